import type { CheckoutView } from "#lib/approvals/checkout-view.ts";

export type Earlier = {
  readonly amount: string;
  /** The price of an earlier visit lacks the buyer's share of the fee. */
  readonly what: "total" | "price";
};

/** What the person was shown: `before` on this page, or else on an earlier visit. Undefined if the amount did not change. */
export function earlierAmount(
  { amounts, before: visit }: Pick<CheckoutView, "amounts" | "before">,
  before: Pick<CheckoutView, "amounts"> | undefined,
): Earlier | undefined {
  if (before) return before.amounts.charged === amounts.charged ? undefined : { amount: before.amounts.charged, what: "total" };
  if (!visit || visit.displayAmount === amounts.total) return undefined;
  return { amount: visit.displayAmount, what: "price" };
}
