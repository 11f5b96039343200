import type { BudgetView, MandateView } from "#lib/approvals/checkout-view.ts";

/** The budget in the mandate's asset with the smallest remaining amount. */
export const tightest = ({ budgets, asset }: MandateView): BudgetView | undefined =>
  budgets.filter(({ unit }) => unit === asset).toSorted((a, b) => Number(a.available) - Number(b.available))[0];
