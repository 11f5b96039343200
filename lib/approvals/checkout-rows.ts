import type { checkoutApprovals, checkoutIntents, checkoutReviews } from "#lib/approvals/tables.ts";

export type CheckoutRow = typeof checkoutIntents.$inferSelect;
/** Every column, so that a new one cannot be forgotten where checkouts are made. */
export type NewCheckout = CheckoutRow;
export type ApprovalRow = typeof checkoutApprovals.$inferSelect;
export type ReviewRow = typeof checkoutReviews.$inferSelect;
