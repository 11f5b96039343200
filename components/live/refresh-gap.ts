const GAP_MIN_MS = 1_000;
const GAP_MAX_MS = 30_000;
/** If no change comes for this long after `gapMs` has passed, the gap is reset to `GAP_MIN_MS`. */
const CALM_MS = 10_000;

/** `at` is when the page was last refreshed. */
export type Pace = { readonly at: number; readonly gapMs: number };

export const calm: Pace = { at: Number.NEGATIVE_INFINITY, gapMs: GAP_MIN_MS };

/** How many milliseconds the page must wait before it refreshes for a change at `now`. */
export const waitOf = ({ at, gapMs }: Pace, now: number): number => Math.max(0, at + gapMs - now);

/** The time between refreshes grows while changes are frequent, because thousands of open pages may refresh at once. */
export function afterReading({ at, gapMs }: Pace, now: number): Pace {
  const isBusy = now - at < gapMs + CALM_MS;
  return { at: now, gapMs: isBusy ? Math.min(gapMs * 2, GAP_MAX_MS) : GAP_MIN_MS };
}
