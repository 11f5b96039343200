import type { BudgetView, MandateView } from "#lib/approvals/checkout-view.ts";

/** Returns the budget in the mandate's asset of which the smallest amount is left; undefined if there is no such budget. */
export const tightest = ({ budgets, asset }: MandateView): BudgetView | undefined =>
  budgets.filter(({ unit }) => unit === asset).toSorted((a, b) => Number(a.available) - Number(b.available))[0];
