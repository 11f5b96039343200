import { sql } from "drizzle-orm";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";

/** Inserts a person's approval of the checkout with its audit event, and returns the approval's id. */
export async function approvedRow(organizationId: string, checkoutIntentId: string, authorizationId: string): Promise<string> {
  const approvalId = newId("approval");
  await database().execute(sql`
    INSERT INTO checkout_approvals (approval_id, checkout_intent_id, organization_id, status, approved_at, approved_by_subject_id, agent_id,
      approval_surface, approved_basket_hash, approved_amount, approved_asset, approved_chain, approved_pay_to, authorization_id, expires_at)
    VALUES (${approvalId}, ${checkoutIntentId}, ${organizationId}, 'pending', clock_timestamp(), 'usr_x', 'sa_x',
      'service_hosted_confirmation', 'x', 1, 'USDC', 'eip155:84532', '0x1', ${authorizationId}, clock_timestamp())`);
  const event = {
    actorId: "usr_x",
    organizationId,
    entityType: "checkout",
    entityId: checkoutIntentId,
    metadata: { approvalId },
  };
  await transact(async (tx) => audit(tx, { type: "checkout.approved", ...event }, await clock(tx)));
  return approvalId;
}
