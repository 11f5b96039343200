/**
 * The sum of the amounts, in atomic units, that payments of one hour of a budget's window have reserved or paid. `hour` counts
 * from the start of the window.
 */
export type HourlyUse = { readonly hour: number; readonly amount: bigint };

export type BurnDownStep = {
  /** The start of the step. */
  readonly at: Date;
  /**
   * The amount left at the end of the step, or now in the current step. Null for future steps and for steps before `knownFrom`.
   */
  readonly left: bigint | null;
};

type Window = { readonly start: Date; readonly end: Date; readonly now: Date };

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** The hours of one step: an hour if the window has at most two days, a day if it has at most 100 days, otherwise a week. */
const hoursOfStep = (hours: number): number =>
  hours <= 2 * DAY_HOURS ? 1 : hours <= 100 * DAY_HOURS ? DAY_HOURS : 7 * DAY_HOURS;

/**
 * The amount left of a window's limit over time. It is computed backwards from the amount left now, so that steps are right even
 * if the oldest payments were not read. `knownFrom` is the first hour that was read completely.
 */
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
