import { audit } from "#lib/audit/transact.ts";
import type { ApprovalRow, CheckoutRow } from "#lib/commerce/checkout-rows.ts";
import { endApproval, findApproval, lockCheckoutOf, setStatus } from "#lib/commerce/store.ts";
import type { Tx } from "#lib/db/client.ts";
import { extendHold, holdOf } from "#lib/payments/hold-store.ts";
import { Problem } from "#lib/problem.ts";

export type Approved = { readonly checkout: CheckoutRow; readonly approval: ApprovalRow | null };

/** The checkout that an authorization belongs to, locked, and what a person said. Null where nobody is asked. */
export async function lockApproved(tx: Tx, authorizationId: string): Promise<Approved | null> {
  const checkout = await lockCheckoutOf(tx, authorizationId);
  return checkout && { checkout, approval: await findApproval(tx, checkout.checkoutIntentId) };
}

type Redeem = { readonly actorId: string; readonly requestId: string; readonly payableUntil: Date };

/**
 * Uses an approval up: once, for the authorization that it is bound to. The caller holds the mandate's and the checkout's lock and
 * compared what is about to be paid with what was approved. From now on the hold lives as long as its authorization.
 * @throws Problem authorization_consumed
 */
export async function redeemApproval(tx: Tx, approval: ApprovalRow, redeem: Redeem, now: Date): Promise<ApprovalRow> {
  const consumed = await endApproval(tx, approval.approvalId, "consumed", now);
  if (!consumed) throw new Problem("authorization_consumed", { detail: "This approval was used before." });
  await setStatus(tx, approval.checkoutIntentId, "authorized", now);
  const hold = approval.authorizationId === null ? null : await holdOf(tx, approval.authorizationId);
  if (hold && hold.expiresAt < redeem.payableUntil) await extendHold(tx, hold, redeem.payableUntil);
  const { organizationId, checkoutIntentId, approvalId, authorizationId, continuationTokenId } = approval;
  const metadata = { requestId: redeem.requestId, checkoutIntentId, approvalId, authorizationId };
  const entity = { entityType: "continuation", entityId: continuationTokenId ?? approvalId };
  const { actorId } = redeem;
  audit(tx, { type: "continuation.redeemed", actorId, organizationId, subjectId: approval.agentId, ...entity, metadata }, now);
  return consumed;
}
