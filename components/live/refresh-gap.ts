const GAP_MIN_MS = 1_000;
const GAP_MAX_MS = 30_000;
/** A page that had no change for this long shows the next one at once. */
const CALM_MS = 10_000;

/** How often a page was read again: when it was last, and how long it waits before the next time. */
export type Pace = { readonly at: number; readonly gapMs: number };

export const calm: Pace = { at: Number.NEGATIVE_INFINITY, gapMs: GAP_MIN_MS };

/** How long a change at `now` waits before the page is read again. */
export const waitOf = ({ at, gapMs }: Pace, now: number): number => Math.max(0, at + gapMs - now);

/** The pace after a reading at `now`. In a busy organization it slows down, because thousands of open pages are read again at once. */
export function afterReading({ at, gapMs }: Pace, now: number): Pace {
  const isBusy = now - at < gapMs + CALM_MS;
  return { at: now, gapMs: isBusy ? Math.min(gapMs * 2, GAP_MAX_MS) : GAP_MIN_MS };
}
