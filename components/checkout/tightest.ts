type Limit = { readonly unit: string; readonly available: string };
type Limits<L extends Limit> = { readonly budgets: readonly L[]; readonly asset: string };

/** Returns the limit in the asset of which the smallest amount is left; undefined if there is no such limit. */
export const tightest = <L extends Limit>({ budgets, asset }: Limits<L>): L | undefined =>
  budgets.filter(({ unit }) => unit === asset).toSorted((a, b) => Number(a.available) - Number(b.available))[0];
