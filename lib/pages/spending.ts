/** Sums of what was paid, as the store reads them: atomic units of the asset as text. */
export type Spent = {
  /** In UTC: "2026-11-21". */
  readonly day: string;
  readonly asset: string;
  readonly chain: string;
  /** A person approved it. */
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

const DAY_MS = 86_400_000;
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** The last `count` days up to and with that of `now`, in UTC, each there even when nothing was paid. */
export function spendingDays(rows: readonly Spent[], now: Date, count: number): SpendingDay[] {
  const ofDay = Map.groupBy(rows, (row) => row.day);
  return Array.from({ length: count }, (_, at) => {
    const day = dayOf(new Date(now.getTime() - (count - 1 - at) * DAY_MS));
    const spent = ofDay.get(day) ?? [];
    const sum = (countersigned: boolean) =>
      spent.reduce((total, row) => (row.countersigned === countersigned ? total + BigInt(row.amount) : total), 0n);
    const payments = spent.reduce((total, row) => total + row.payments, 0);
    return { day, byAgents: sum(false), countersigned: sum(true), payments };
  });
}

/** Midnight in UTC at the first of the days that the page needs: of the last `count`, or of this month where that is earlier. */
export function spendingSince(now: Date, count: number): Date {
  const first = new Date(`${dayOf(new Date(now.getTime() - (count - 1) * DAY_MS))}T00:00:00.000Z`);
  const month = new Date(`${dayOf(now).slice(0, 7)}-01T00:00:00.000Z`);
  return first < month ? first : month;
}
