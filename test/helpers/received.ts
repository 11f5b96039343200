import { sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { firstIdAt, newId } from "#lib/ids.ts";
import type { Scope } from "#lib/settlement/received-store.ts";
import { CHAIN } from "#test/mandates.ts";

/* Rows of payments that an organization received. */

export const USDC = "0x036cbd53842c5426634e7929541ec2318f3dcf7e";
export const DAY_MS = 86_400_000;
export const scopeOf = (organizationId: string): Scope => ({ organizationId, environment: "sandbox" });

/** An id of this kind, as if it had been made at this time: after its prefix, an id begins with the time. */
const idAt = (kind: "execution" | "settlement", at: Date): string => firstIdAt(kind, at).slice(0, -8) + newId(kind).slice(-8);

type Paid = {
  readonly status?: string;
  readonly daysAgo?: number;
  readonly resourceId?: string;
  readonly amount?: number;
  readonly nonce?: string;
};

/** Inserts an execution of a payment that another organization made to the organization `seller`. */
export async function execution(
  seller: string,
  { status = "settled", daysAgo = 0, resourceId = "report", amount = 250_000, nonce = "0x1" }: Paid = {},
) {
  const at = new Date(Date.now() - daysAgo * DAY_MS);
  const id = idAt("execution", at);
  await database().execute(sql`
    INSERT INTO executions (execution_id, authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode,
      settlement_status, payer, nonce, settlement_reference, seller_organization_id, seller_id, resource_id, amount, asset, chain,
      created_at, resolved_at, next_check_at)
    VALUES (${id}, ${newId("authorization")}, 'org_buyer', 'sandbox', 'mdt_secret', 'sa_secret', 'offchainAuthorized', ${status},
      '0xpayer', ${nonce}, '0xhash', ${seller}, 'sel_1', ${resourceId}, ${amount}, 'USDC', ${CHAIN}, ${at.toISOString()}, ${at.toISOString()},
      ${at.toISOString()})`);
  return id;
}

/** Inserts a payment without a mandate that the seller's own server has settled through this service. */
export async function settlement(
  seller: string,
  { status = "settled", daysAgo = 0, resourceId = "report", amount = 250_000 }: Paid = {},
) {
  const at = new Date(Date.now() - daysAgo * DAY_MS);
  const id = idAt("settlement", at);
  await database().execute(sql`
    INSERT INTO plain_settlements (settlement_id, organization_id, environment, service_account_id, chain, token_address, payer, nonce,
      pay_to, amount, seller_id, resource_id, credential_hash, valid_before, from_block, status, transaction, created_at, resolved_at)
    VALUES (${id}, ${seller}, 'sandbox', 'sa_x', ${CHAIN}, ${USDC}, '0xplain', ${id}, '0xto', ${amount}, 'sel_1', ${resourceId}, 'x',
      clock_timestamp(), 1, ${status}, '0xhash2', ${at.toISOString()}, ${at.toISOString()})`);
  return id;
}
