import { lastDays } from "#lib/pages/days.ts";

/** `amount` is in atomic units of the asset. */
export type Spend = {
  /** In UTC: "2026-11-21". */
  readonly day: string;
  readonly asset: string;
  readonly chain: string;
  /** Whether a person approved these payments. */
  readonly countersigned: boolean;
  readonly amount: string;
  readonly payments: number;
};

export type SpendingDay = {
  readonly day: string;
  readonly byAgents: bigint;
  readonly countersigned: bigint;
  readonly payments: number;
};

/** The last `count` UTC days including the day of `now`, also days without payments. */
export function spendingDays(rows: readonly Spend[], now: Date, count: number): SpendingDay[] {
  const ofDay = Map.groupBy(rows, (row) => row.day);
  return lastDays(now, count).map((day) => {
    const spent = ofDay.get(day) ?? [];
    const sum = (countersigned: boolean) =>
      spent.reduce((total, row) => (row.countersigned === countersigned ? total + BigInt(row.amount) : total), 0n);
    const payments = spent.reduce((total, row) => total + row.payments, 0);
    return { day, byAgents: sum(false), countersigned: sum(true), payments };
  });
}
