import type { checkoutApprovals, checkoutIntents, checkoutReviews } from "#lib/approvals/tables.ts";

export type CheckoutRow = typeof checkoutIntents.$inferSelect;
/** Requires every column, so that no code that creates checkouts can forget a new one. */
export type NewCheckout = CheckoutRow;
export type ApprovalRow = typeof checkoutApprovals.$inferSelect;
export type ReviewRow = typeof checkoutReviews.$inferSelect;
