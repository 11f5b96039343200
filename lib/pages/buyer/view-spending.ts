import { reading, type Scope } from "#lib/mandates/store.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { formatAmount } from "#lib/money.ts";
import { firstDay, monthOf } from "#lib/pages/days.ts";
import { spendingDays, type Spend } from "#lib/pages/buyer/spending/spending.ts";
import { selectHeld, selectSpending } from "#lib/pages/buyer/spending/store.ts";
import { dayOf } from "#lib/time.ts";

type Amounts = { readonly byAgents: string; readonly countersigned: string; readonly total: string };

/** Amounts are decimal text. */
export type Spending = {
  readonly asset: string;
  readonly chain: string;
  /** The days in UTC, the oldest first and today last. */
  readonly days: readonly (Amounts & { readonly day: string })[];
  readonly today: string;
  readonly month: Amounts;
  /** The amount that payments have reserved and that is neither captured nor released yet. */
  readonly held: string;
};

const DAYS = 30;

/** One entry for each asset and chain of the mandates, the one with the most payments in the time shown first. */
export const viewSpending = (scope: Scope): Promise<readonly Spending[]> =>
  reading(async (tx, now) => {
    const rows = await selectSpending(tx, scope, firstDay(now, DAYS));
    const held = await selectHeld(tx, scope);
    const payments = (coin: Coin) => rows.reduce((sum, row) => (sameCoin(row, coin) ? sum + row.payments : sum), 0);
    return held.toSorted((a, b) => payments(b) - payments(a)).map((coin) => spendingOf(coin, rows, now));
  });

export type Coin = { readonly asset: string; readonly chain: string };
export const sameCoin = (a: Coin, b: Coin): boolean => a.asset === b.asset && a.chain === b.chain;

export function daysOf(coin: Coin, rows: readonly Spend[], now: Date, count: number): Spending["days"] {
  const own = rows.filter((row) => sameCoin(row, coin));
  return spendingDays(own, now, count).map(({ day, ...sums }) => ({ day, ...textsOf(sums, decimalsOf(coin)) }));
}

function spendingOf(coin: Coin & { readonly amount: string }, rows: readonly Spend[], now: Date): Spending {
  const { asset, chain, amount } = coin;
  const decimals = decimalsOf(coin);
  const own = rows.filter((row) => sameCoin(row, coin));
  const month = own.filter(({ day }) => day.startsWith(monthOf(now)));
  const today = own.filter(({ day }) => day === dayOf(now));
  return {
    asset,
    chain,
    days: daysOf(coin, rows, now, DAYS),
    today: textsOf(sumsOf(today), decimals).total,
    month: textsOf(sumsOf(month), decimals),
    held: formatAmount(BigInt(amount), decimals),
  };
}

type Sums = { readonly byAgents: bigint; readonly countersigned: bigint };

const textsOf = ({ byAgents, countersigned }: Sums, decimals: number): Amounts => ({
  byAgents: formatAmount(byAgents, decimals),
  countersigned: formatAmount(countersigned, decimals),
  total: formatAmount(byAgents + countersigned, decimals),
});

function sumsOf(rows: readonly Spend[]): Sums {
  const sum = (wanted: boolean) =>
    rows.reduce((total, { countersigned, amount }) => (countersigned === wanted ? total + BigInt(amount) : total), 0n);
  return { byAgents: sum(false), countersigned: sum(true) };
}
