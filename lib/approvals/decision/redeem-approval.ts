import { audit } from "#lib/audit/transact.ts";
import type { ApprovalRow, CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import {
  endApproval,
  findApproval,
  findCheckout,
  findCheckoutOf,
  lockCheckoutOf,
  setCheckoutStatus,
  type Scope,
} from "#lib/approvals/store.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import type { AuthorizationRow } from "#lib/holds/execution-store.ts";
import { extendHold, holdOf } from "#lib/holds/hold-store.ts";
import { Problem } from "#lib/problem.ts";

export type ApprovedCheckout = { readonly checkout: CheckoutRow; readonly approval: ApprovalRow | null };

/** Null if the authorization has no checkout. */
export async function lockApproved(tx: Tx, authorizationId: string): Promise<ApprovedCheckout | null> {
  const checkout = await lockCheckoutOf(tx, authorizationId);
  return checkout && { checkout, approval: await findApproval(tx, checkout.checkoutIntentId) };
}

/** Like lockApproved, without a lock. */
export async function findApproved(db: Database | Tx, authorizationId: string): Promise<ApprovedCheckout | null> {
  const checkout = await findCheckoutOf(db, authorizationId);
  return checkout && { checkout, approval: await findApproval(db, checkout.checkoutIntentId) };
}

/** Returns the authorization of the checkout whose confirmation page is `href`; null if there is none. */
export async function askedUnder(db: Database | Tx, scope: Scope, href: string): Promise<string | null> {
  const checkout = await findCheckout(db, scope, href.slice(href.lastIndexOf("/") + 1));
  return checkout?.authorizationId ?? null;
}

type Payment = Pick<AuthorizationRow, "authorizationId" | "mandateId" | "amount" | "asset" | "chain" | "subjectId" | "intent">;

/** @throws Problem policy_denied */
export function requireSamePayment(approval: ApprovalRow, payment: Payment): void {
  const { payTo = "" } = payment.intent;
  const same =
    approval.authorizationId === payment.authorizationId &&
    approval.mandateId === payment.mandateId &&
    approval.agentId === payment.subjectId &&
    approval.approvedAmount === payment.amount &&
    approval.approvedAsset === payment.asset &&
    approval.approvedChain === payment.chain &&
    approval.approvedPayTo.toLowerCase() === payTo.toLowerCase();
  if (!same) throw new Problem("policy_denied", { detail: "This is not the payment that was approved." });
}

/** Called in the transaction that inserts the execution. */
export async function startCheckout(tx: Tx, { checkoutIntentId }: CheckoutRow, now: Date): Promise<void> {
  await setCheckoutStatus(tx, checkoutIntentId, "executing", now);
}

/**
 * A payment that is made elsewhere ends its checkout without an execution. If an order's payment settled, the order ends the checkout
 * later, because the storefront may still refuse the order.
 */
export async function finishCheckout(tx: Tx, authorizationId: string, outcome: "settled" | "failed", now: Date): Promise<void> {
  const checkout = await lockCheckoutOf(tx, authorizationId);
  if (checkout?.status !== "executing" && checkout?.status !== "authorized") return;
  if (outcome === "settled" && checkout.orderId !== null) return;
  if (checkout.status === "authorized") await startCheckout(tx, checkout, now);
  await setCheckoutStatus(tx, checkout.checkoutIntentId, outcome === "settled" ? "completed" : "failed", now);
}

type Redeem = { readonly actorId: string; readonly requestId: string; readonly payableUntil: Date };

/** The caller has locked mandate and checkout and compared the payment. @throws Problem authorization_consumed */
export async function redeemApproval(tx: Tx, approval: ApprovalRow, redeem: Redeem, now: Date): Promise<ApprovalRow> {
  const consumed = await endApproval(tx, approval.approvalId, "consumed", now);
  if (!consumed) throw new Problem("authorization_consumed", { detail: "This approval was used before." });
  await setCheckoutStatus(tx, approval.checkoutIntentId, "authorized", now);
  const hold = approval.authorizationId === null ? null : await holdOf(tx, approval.authorizationId);
  if (hold && hold.expiresAt < redeem.payableUntil) await extendHold(tx, hold, redeem.payableUntil);
  const { organizationId, checkoutIntentId, approvalId, authorizationId, continuationTokenId } = approval;
  const metadata = { requestId: redeem.requestId, checkoutIntentId, approvalId, authorizationId };
  const entity = { entityType: "continuation", entityId: continuationTokenId ?? approvalId };
  const { actorId } = redeem;
  audit(tx, { type: "continuation.redeemed", actorId, organizationId, subjectId: approval.agentId, ...entity, metadata }, now);
  return consumed;
}
