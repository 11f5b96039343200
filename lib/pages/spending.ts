/** A sum of payments as the store returns it: atomic units of the asset as text. */
export type Spend = {
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

/** The last `count` UTC days including the day of `now`. Days without payments are included. */
export function spendingDays(rows: readonly Spend[], now: Date, count: number): SpendingDay[] {
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

/** UTC midnight of the first day that the page needs: the first of the last `count` days, or of this month if that is earlier. */
export function spendingSince(now: Date, count: number): Date {
  const first = new Date(`${dayOf(new Date(now.getTime() - (count - 1) * DAY_MS))}T00:00:00.000Z`);
  const month = new Date(`${dayOf(now).slice(0, 7)}-01T00:00:00.000Z`);
  return first < month ? first : month;
}
