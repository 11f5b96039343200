import type { checkoutApprovals, checkoutIntents, checkoutReviews } from "#lib/approvals/tables.ts";
import { newId } from "#lib/ids.ts";
import { parseAmount, type Atomic } from "#lib/money.ts";

export type CheckoutRow = typeof checkoutIntents.$inferSelect;
/** All columns are required, so that the type checker finds code that forgets a new column. */
export type NewCheckout = CheckoutRow;
export type ApprovalRow = typeof checkoutApprovals.$inferSelect;
export type ReviewRow = typeof checkoutReviews.$inferSelect;

/** What an approval and a rejection of a checkout have in common. */
export const decisionOn = (checkout: CheckoutRow, userId: string, now: Date) => ({
  approvalId: newId("approval"),
  checkoutIntentId: checkout.checkoutIntentId,
  organizationId: checkout.organizationId,
  approvedAt: now,
  approvedBySubjectId: userId,
  takenBackBySubjectId: null,
  preselectedMandateId: checkout.mandateId,
  agentId: checkout.ownerSubjectId,
  approvalSurface: "service_hosted_confirmation",
  approvedBasketHash: checkout.basketHash,
  approvedAmount: checkout.amount,
  approvedAsset: checkout.asset,
  approvedChain: checkout.chain,
  approvedPayTo: checkout.payTo,
  createdAt: now,
});

/** The price plus the buyer's share of the fee. */
export function chargedFor({
  amount,
  tokenDecimals,
  feeQuote,
}: Pick<CheckoutRow, "amount" | "tokenDecimals" | "feeQuote">): Atomic {
  return (amount + buyerShareOf(feeQuote, tokenDecimals)) as Atomic;
}

export function buyerShareOf(feeQuote: CheckoutRow["feeQuote"], decimals: number): Atomic {
  if (!feeQuote) return 0n as Atomic;
  const fee = parseAmount(feeQuote.serviceFeeAmount, decimals);
  const sellerShare = parseAmount(feeQuote.grossAmount, decimals) - parseAmount(feeQuote.sellerNetAmount, decimals);
  return (fee - sellerShare) as Atomic;
}
