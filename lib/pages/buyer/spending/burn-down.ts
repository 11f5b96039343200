/** Atomic units that payments have reserved or paid; `hour` counts from the start of the budget's window. */
export type HourlyUse = { readonly hour: number; readonly amount: bigint };

export type BurnDownStep = {
  readonly at: Date;
  /** Atomic units left at the end of the step, or now in the current one; null for future steps and before `knownFrom`. */
  readonly left: bigint | null;
};

type Window = { readonly start: Date; readonly end: Date; readonly now: Date };

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const hoursOfStep = (hours: number): number =>
  hours <= 2 * DAY_HOURS ? 1 : hours <= 100 * DAY_HOURS ? DAY_HOURS : 7 * DAY_HOURS;

/** Computed backwards from the amount left now, so that steps are right even if hours before `knownFrom` were not read. */
export function burnDown(use: readonly HourlyUse[], left: bigint, { start, end, now }: Window, knownFrom = 0): BurnDownStep[] {
  const hours = Math.ceil((end.getTime() - start.getTime()) / HOUR_MS);
  const step = hoursOfStep(hours);
  const current = Math.floor((now.getTime() - start.getTime()) / HOUR_MS);
  return Array.from({ length: Math.ceil(hours / step) }, (_, index) => {
    const [first, next] = [index * step, (index + 1) * step];
    const after = use.reduce((sum, { hour, amount }) => (hour >= next ? sum + amount : sum), 0n);
    const isKnown = first <= current && next > knownFrom;
    return { at: new Date(start.getTime() + first * HOUR_MS), left: isKnown ? left + after : null };
  });
}
