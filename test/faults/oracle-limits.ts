import type { HoldRow, Sql } from "./oracle.ts";

/* The limits of the policies, with a calendar and an arithmetic of their own. */

type Span = { readonly period?: string; readonly timezone?: string; readonly rolling?: string };
type Policy = {
  readonly limits: {
    readonly perPayment: string;
    readonly total?: string;
    readonly budgets?: readonly (Span & { readonly amount: string })[];
    readonly counts?: readonly (Span & { readonly max: number })[];
  };
};

/** Six decimals; the policies of the load have no more. */
function atomic(text: string): bigint {
  const [whole = "", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(6, "0"));
}

const days = new Map<string, Intl.DateTimeFormat>();

/** The local date of a time, such as 2026-11-21, which names a day's window. The load has no longer calendar windows. */
function dayOf(timezone: string, micros: bigint): string {
  const format = days.get(timezone) ?? new Intl.DateTimeFormat("sv-SE", { timeZone: timezone, dateStyle: "short" });
  days.set(timezone, format);
  return format.format(Number(micros / 1_000n));
}

function hoursOf(rolling: string): bigint {
  const hours = /^PT(\d+)H$/.exec(rolling)?.[1];
  if (hours === undefined) throw new Error(`The oracle does not know the window ${rolling}.`);
  return BigInt(hours);
}

/** The payments that count at the time of `hold` in this window: those before it, and itself, whose amounts were not given back. */
function within(span: Span, hold: HoldRow, counted: readonly HoldRow[]): readonly HoldRow[] {
  const now = BigInt(hold.began);
  if (span.rolling !== undefined) {
    const from = now - hoursOf(span.rolling) * 3_600_000_000n;
    return counted.filter(({ began }) => BigInt(began) > from);
  }
  if (span.period !== "day") throw new Error(`The oracle does not know the period ${span.period}.`);
  const day = dayOf(span.timezone ?? "", now);
  return counted.filter(({ began }) => dayOf(span.timezone ?? "", BigInt(began)) === day);
}

const sumOf = (holds: readonly HoldRow[]): bigint => holds.reduce((sum, { amount }) => sum + BigInt(amount), 0n);

function broken(hold: HoldRow, before: readonly HoldRow[], { limits }: Policy): string[] {
  const counted = before.filter(({ ended }) => ended === null || BigInt(ended) > BigInt(hold.began));
  const wrong: string[] = [];
  const check = (holds: boolean, what: string): void =>
    void (holds || wrong.push(`above ${what} of ${hold.mandate}: ${hold.id}`));
  check(BigInt(hold.amount) <= atomic(limits.perPayment), "the limit per payment");
  if (limits.total !== undefined) check(sumOf(counted) <= atomic(limits.total), "the total");
  for (const budget of limits.budgets ?? []) check(sumOf(within(budget, hold, counted)) <= atomic(budget.amount), "a budget");
  for (const count of limits.counts ?? []) check(within(count, hold, counted).length <= count.max, "a count");
  return wrong;
}

/** A mandate with so many payments has limits that the load cannot reach, so only its whole sum is compared. */
const MANY = 1_000;

export async function brokenLimits(sql: Sql, holds: readonly HoldRow[]): Promise<string[]> {
  const rows = await sql<{ version: string; policy: Policy }[]>`
    SELECT mandate_id || ' ' || version AS version, policy FROM mandate_versions`;
  const policies = new Map(rows.map(({ version, policy }) => [version, policy]));
  return [...Map.groupBy(holds, ({ mandate }) => mandate).values()].flatMap((all) => {
    const begun = all.toSorted((a, b) => Number(BigInt(a.began) - BigInt(b.began)));
    return (begun.length > MANY ? [begun.length - 1] : begun.keys().toArray()).flatMap((at) => {
      const hold = begun[at]!;
      const policy = policies.get(`${hold.mandate} ${hold.version}`);
      return policy ? broken(hold, begun.slice(0, at + 1), policy) : [`no version ${hold.version} of ${hold.mandate}`];
    });
  });
}
