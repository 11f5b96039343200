import { z } from "zod";

/** RFC 3339 with any time zone. */
export const Timestamp = z.iso
  .datetime({ offset: true, error: "Write the time as RFC 3339, such as 2026-11-21T12:00:00.000Z." })
  .max(40)
  .meta({ examples: ["2026-11-21T12:00:00.000Z"] });

const WRITTEN_MAX = 64;
const written = new Map<number, string>();

/** Reading the cache is much faster than formatting, and the payments of a batch have the same few times. */
export function toWire(time: Date): string {
  const at = time.getTime();
  let text = written.get(at);
  if (text === undefined) {
    if (written.size >= WRITTEN_MAX) written.clear();
    written.set(at, (text = time.toISOString()));
  }
  return text;
}

export const DAY_MS = 86_400_000;

/** The day of a time in UTC, such as "2026-11-21". */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** The time at which a UTC day such as "2026-11-21" begins; undefined if the text is not a valid date. */
export function readDay(text: string | undefined): Date | undefined {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const midnight = new Date(`${text}T00:00:00.000Z`);
  return Number.isNaN(midnight.getTime()) || dayOf(midnight) !== text ? undefined : midnight;
}

export const daysAfter = (time: Date, count: number): Date => new Date(time.getTime() + count * DAY_MS);
/** In milliseconds. A later time counts as long ago as it is ahead: it was stored while the clock ran ahead. */
export const ageOf = (time: Date, now: Date): number => Math.abs(now.getTime() - time.getTime());

/** The counterpart of `leaseEnded` in lib/db/leases.ts. */
export const leaseHeld = (until: Date, longestMs: number, now: Date): boolean =>
  until > now && until.getTime() - now.getTime() <= longestMs + 1_000;

export const minutes = (count: number): number => count * 60_000;
export const earliest = (...times: readonly Date[]): Date => new Date(Math.min(...times.map(Number)));

/** Returns the result of `work`, or `instead` after `milliseconds`. The work then continues, and its result is ignored. */
export async function atMost<T, I>(work: Promise<T>, milliseconds: number, instead: I): Promise<T | I> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<I>((resolve) => (timer = setTimeout(resolve, milliseconds, instead)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
