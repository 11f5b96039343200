import { reading, type Scope } from "#lib/mandates/store.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { formatAmount } from "#lib/money.ts";
import { firstDay, monthOf } from "#lib/pages/days.ts";
import { spendingDays, type Spend } from "#lib/pages/spending.ts";
import { selectHeld, selectSpending } from "#lib/pages/spending-store.ts";
import { dayOf } from "#lib/time.ts";

/** Amounts are decimal text. */
export type Spending = {
  readonly asset: string;
  readonly chain: string;
  /** The days in UTC, the oldest first and today last. */
  readonly days: readonly {
    readonly day: string;
    readonly byAgents: string;
    readonly countersigned: string;
    readonly total: string;
  }[];
  readonly today: string;
  readonly month: { readonly byAgents: string; readonly countersigned: string; readonly total: string };
  /** The amount that payments have reserved and that is not settled yet. */
  readonly held: string;
};

const DAYS = 30;

/** By asset, the one with the most payments first. Empty before the first mandate. */
export const viewSpending = (scope: Scope): Promise<readonly Spending[]> =>
  reading(async (tx, now) => {
    const rows = await selectSpending(tx, scope, firstDay(now, DAYS));
    const held = await selectHeld(tx, scope);
    const payments = (coin: Coin) => rows.reduce((sum, row) => (sameCoin(row, coin) ? sum + row.payments : sum), 0);
    return held
      .toSorted((a, b) => payments(b) - payments(a))
      .map((coin) =>
        spendingOf(
          rows.filter((row) => sameCoin(row, coin)),
          coin,
          now,
        ),
      );
  });

type Coin = { readonly asset: string; readonly chain: string };
const sameCoin = (a: Coin, b: Coin): boolean => a.asset === b.asset && a.chain === b.chain;

function spendingOf(rows: readonly Spend[], { asset, chain, amount }: Coin & { readonly amount: string }, now: Date): Spending {
  const decimals = decimalsOf({ asset, chain });
  const text = (value: bigint) => formatAmount(value, decimals);
  const days = spendingDays(rows, now, DAYS);
  const month = sumsOf(rows.filter(({ day }) => day.startsWith(monthOf(now))));
  const today = sumsOf(rows.filter(({ day }) => day === dayOf(now)));
  return {
    asset,
    chain,
    days: days.map(({ day, byAgents, countersigned }) => ({
      day,
      byAgents: text(byAgents),
      countersigned: text(countersigned),
      total: text(byAgents + countersigned),
    })),
    today: text(today.byAgents + today.countersigned),
    month: {
      byAgents: text(month.byAgents),
      countersigned: text(month.countersigned),
      total: text(month.byAgents + month.countersigned),
    },
    held: text(BigInt(amount)),
  };
}

function sumsOf(rows: readonly Spend[]): { readonly byAgents: bigint; readonly countersigned: bigint } {
  const sum = (wanted: boolean) =>
    rows.reduce((total, { countersigned, amount }) => (countersigned === wanted ? total + BigInt(amount) : total), 0n);
  return { byAgents: sum(false), countersigned: sum(true) };
}
