import type { checkoutApprovals, checkoutIntents, checkoutReviews } from "#lib/approvals/tables.ts";

export type CheckoutRow = typeof checkoutIntents.$inferSelect;
/** All columns are required, so that the type checker finds code that forgets a new column. */
export type NewCheckout = CheckoutRow;
export type ApprovalRow = typeof checkoutApprovals.$inferSelect;
export type ReviewRow = typeof checkoutReviews.$inferSelect;
