import { askerText, type AskerReader } from "#lib/identity/asker.ts";
import { askersOf } from "#lib/identity/subject-name-store.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { denials } from "#lib/mandates/policy/denials.ts";
import { reading } from "#lib/mandates/store.ts";
import { formatAmount } from "#lib/money.ts";
import { lastDays } from "#lib/pages/days.ts";
import { selectRefusals, selectSpendingParts, type SpendingPart } from "#lib/pages/buyer/spending/insight-store.ts";
import { namesOfMandates } from "#lib/pages/buyer/payments/page-store.ts";
import { selectHeld, selectSpending } from "#lib/pages/buyer/spending/store.ts";
import { daysOf, sameCoin, type Coin, type Spending } from "#lib/pages/buyer/view-spending.ts";
import { problems } from "#lib/problem.ts";
import type { DenialCode, Rail } from "#lib/vocabulary.ts";

/** `key` tells bars apart that have the same `name`, which may be untrusted text. `amount` is decimal text. */
export type Share = { readonly key: string; readonly name: string; readonly href?: string; readonly amount: string };

/** The days are UTC days, oldest first. */
export type CoinInsights = {
  readonly asset: string;
  readonly chain: string;
  readonly days: Spending["days"];
  readonly agents: readonly Share[];
  readonly sellers: readonly Share[];
  readonly mandates: readonly Share[];
  readonly rails: readonly Share[];
};

export type Insights = {
  readonly coins: readonly CoinInsights[];
  readonly refusals: readonly ReturnType<typeof refusalOf>[];
};

/** The number of largest entries that get their own bar in a chart; one more bar shows the sum of all others. */
const BARS = 8;

/** No name equals this key, because text in PostgreSQL cannot contain the NUL character. */
const REST = "\0rest";

type Named = (key: string | null) => Omit<Share, "key" | "amount">;

function shares(parts: readonly SpendingPart[], decimals: number, named: Named): Share[] {
  const sorted = parts.toSorted((a, b) => Number(BigInt(b.amount) - BigInt(a.amount)));
  const [shown, rest] = [sorted.slice(0, BARS), sorted.slice(BARS)];
  const others = rest.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return [
    ...shown.map(({ key, amount }) => ({ key: key ?? "", ...named(key), amount: formatAmount(BigInt(amount), decimals) })),
    ...(rest.length > 0 ? [{ key: REST, name: `${rest.length} more`, amount: formatAmount(others, decimals) }] : []),
  ];
}

const railNames: Readonly<Record<Rail, string>> = { x402: "x402", record: "Made elsewhere", card: "By card" };

const capital = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;

function refusalOf({ denialCode, payments }: { readonly denialCode: string | null; readonly payments: number }) {
  const code = denialCode ?? "policy_denied";
  const known = Object.hasOwn(denials, code);
  const rule = Object.hasOwn(problems, code) ? problems[code as keyof typeof problems].title : capital(code.replaceAll("_", " "));
  return { code, rule, means: known ? denials[code as DenialCode].means : "", payments };
}

/** The last `count` days including today; the asset with the most payments comes first. */
export const viewInsights = (scope: AskerReader, count: number): Promise<Insights> =>
  reading(async (tx, now) => {
    const since = new Date(`${lastDays(now, count)[0]}T00:00:00.000Z`);
    const days = await selectSpending(tx, scope, since);
    const parts = await selectSpendingParts(tx, scope, since);
    const refusals = await selectRefusals(tx, scope, since);
    const coins = await selectHeld(tx, scope);
    const keys = (by: SpendingPart["by"]) => parts.flatMap((part) => (part.by === by && part.key !== null ? [part.key] : []));
    const askerOf = await askersOf(tx, scope, keys("agent"));
    const mandates = await namesOfMandates(tx, scope, keys("mandate"));
    const paid = (coin: Coin) => days.reduce((sum, row) => (sameCoin(row, coin) ? sum + row.payments : sum), 0);
    return {
      refusals: refusals.map(refusalOf),
      coins: coins
        .toSorted((a, b) => paid(b) - paid(a))
        .map((coin) => {
          const decimals = decimalsOf(coin);
          const own = (by: SpendingPart["by"]) => parts.filter((part) => part.by === by && sameCoin(part, coin));
          return {
            asset: coin.asset,
            chain: coin.chain,
            days: daysOf(coin, days, now, count),
            agents: shares(own("agent"), decimals, (key) => ({ name: key === null ? "Unknown" : askerText(askerOf(key)) })),
            sellers: shares(own("seller"), decimals, (key) => ({ name: key ?? "Unknown seller" })),
            mandates: shares(own("mandate"), decimals, (key) => ({
              name: mandates.get(key ?? "") ?? key ?? "",
              ...(key !== null && { href: `/mandates/${key}` }),
            })),
            rails: shares(own("rail"), decimals, (key) => ({ name: railNames[key as Rail] })),
          };
        }),
    };
  });
