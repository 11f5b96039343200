/** The sum of the payments received in one asset, in atomic units. */
export type Sum = { readonly amount: bigint; readonly payments: number };

export type RevenueEntry = {
  /** In UTC: "2026-11-21". */
  readonly day: string;
  readonly sellerId: string | null;
  readonly resourceId: string | null;
  readonly amount: bigint;
  readonly payments: number;
};

const DAY_MS = 86_400_000;
const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

export const sumOf = (rows: readonly Sum[]): Sum =>
  rows.reduce((sum, { amount, payments }) => ({ amount: sum.amount + amount, payments: sum.payments + payments }), {
    amount: 0n,
    payments: 0,
  });

/** UTC midnight of the first of the last `count` days, or of the first day of this month if that is earlier. */
export function revenueSince(now: Date, count: number): Date {
  const first = `${dayOf(new Date(now.getTime() - (count - 1) * DAY_MS))}T00:00:00.000Z`;
  const month = `${dayOf(now).slice(0, 7)}-01T00:00:00.000Z`;
  return new Date(first < month ? first : month);
}

/** The last `count` UTC days including today. Days without payments are included. */
export function revenueDays(rows: readonly RevenueEntry[], now: Date, count: number): (Sum & { readonly day: string })[] {
  const ofDay = Map.groupBy(rows, ({ day }) => day);
  return Array.from({ length: count }, (_, at) => {
    const day = dayOf(new Date(now.getTime() - (count - 1 - at) * DAY_MS));
    return { day, ...sumOf(ofDay.get(day) ?? []) };
  });
}

/** The rows of the UTC month of `now`. */
export const ofThisMonth = <R extends RevenueEntry>(rows: readonly R[], now: Date): R[] =>
  rows.filter(({ day }) => day.startsWith(dayOf(now).slice(0, 7)));

/** The key for a resource's sums. */
export const resourceKey = ({ sellerId, resourceId }: Pick<RevenueEntry, "sellerId" | "resourceId">): string =>
  `${sellerId ?? ""} ${resourceId ?? ""}`;
