import { lastDays, monthOf } from "#lib/pages/days.ts";

/** `amount` is in atomic units of one asset. */
export type Sum = { readonly amount: bigint; readonly payments: number };

export type RevenueEntry = {
  /** In UTC: "2026-11-21". */
  readonly day: string;
  readonly sellerId: string | null;
  readonly resourceId: string | null;
  readonly amount: bigint;
  readonly payments: number;
};

export const sumOf = (rows: readonly Sum[]): Sum =>
  rows.reduce((sum, { amount, payments }) => ({ amount: sum.amount + amount, payments: sum.payments + payments }), {
    amount: 0n,
    payments: 0,
  });

/** Also has the days without payments; the days are UTC days and the last is today. */
export function revenueDays(rows: readonly RevenueEntry[], now: Date, count: number): (Sum & { readonly day: string })[] {
  const ofDay = Map.groupBy(rows, ({ day }) => day);
  return lastDays(now, count).map((day) => ({ day, ...sumOf(ofDay.get(day) ?? []) }));
}

export const ofThisMonth = <R extends RevenueEntry>(rows: readonly R[], now: Date): R[] =>
  rows.filter(({ day }) => day.startsWith(monthOf(now)));

export const revenueKey = ({ sellerId, resourceId }: Pick<RevenueEntry, "sellerId" | "resourceId">): string =>
  `${sellerId ?? ""} ${resourceId ?? ""}`;
