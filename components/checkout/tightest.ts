type Limit = { readonly unit: string; readonly available: string };
type Limits<L extends Limit> = { readonly budgets: readonly L[]; readonly asset: string };

/** Of the limits in the asset, returns the one with the smallest amount left; undefined if there is none. */
export const tightest = <L extends Limit>({ budgets, asset }: Limits<L>): L | undefined =>
  budgets.filter(({ unit }) => unit === asset).toSorted((a, b) => Number(a.available) - Number(b.available))[0];
