import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { formatAmount } from "#lib/money.ts";
import type { AssetOnChain } from "#lib/chains/chains.ts";
import { firstDay } from "#lib/pages/days.ts";
import { sumExecutions, sumSettlements, type RevenueRow } from "#lib/pages/seller/revenue-store.ts";
import { ofThisMonth, revenueKey, revenueDays, sumOf, type RevenueEntry, type Sum } from "#lib/pages/seller/revenue.ts";
import { coinOf } from "#lib/settlement/list-settlements.ts";
import type { Scope } from "#lib/settlement/received-store.ts";

/** `amount` is decimal text in the asset. */
type Figures = { readonly amount: string; readonly payments: number };

export type Revenue = {
  readonly asset: string;
  readonly chain: string;
  /** 30 days in UTC, oldest first, today last. */
  readonly days: readonly (Figures & { readonly day: string })[];
  /** This month in UTC. */
  readonly month: Figures;
  /** This month by resource, under "sellerId resourceId". */
  readonly resources: Readonly<Record<string, Figures>>;
};

const DAYS = 30;

/** The asset with the most payments this month comes first; empty if no payment settled in 30 days or this month. */
export async function viewRevenue(scope: Scope): Promise<readonly Revenue[]> {
  const now = await clock(database());
  const since = firstDay(now, DAYS);
  const rows: RevenueRow[] = [
    ...(await sumExecutions(database(), scope, since)),
    ...(await sumSettlements(database(), scope, since)),
  ];
  const byCoin = Map.groupBy(rows, (row) => {
    const { chain, asset } = coinOf(row);
    return `${chain} ${asset}`;
  });
  return [...byCoin.values()]
    .map((ofCoin) => revenueOf(ofCoin.map(earned), coinOf(ofCoin[0]!), now))
    .toSorted((a, b) => b.month.payments - a.month.payments);
}

const earned = ({ day, sellerId, resourceId, amount, payments }: RevenueRow): RevenueEntry => ({
  day,
  sellerId,
  resourceId,
  amount: BigInt(amount),
  payments,
});

function revenueOf(rows: readonly RevenueEntry[], { asset, chain, tokenDecimals }: AssetOnChain, now: Date): Revenue {
  const figures = ({ amount, payments }: Sum): Figures => ({ amount: formatAmount(amount, tokenDecimals), payments });
  const month = ofThisMonth(rows, now);
  const byResource = [...Map.groupBy(month, revenueKey)].map(([key, of]) => [key, figures(sumOf(of))] as const);
  return {
    asset,
    chain,
    days: revenueDays(rows, now, DAYS).map(({ day, ...sum }) => ({ day, ...figures(sum) })),
    month: figures(sumOf(month)),
    resources: Object.fromEntries(byResource),
  };
}
