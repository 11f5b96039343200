import type { checkoutApprovals, checkoutIntents, checkoutReviews } from "#lib/approvals/tables.ts";
import { newId } from "#lib/ids.ts";

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
