import { DAY_MS } from "#lib/time.ts";
import type { Period } from "#lib/vocabulary.ts";

const MINUTE_MS = 60_000;
/** All periods of all zones fit. */
const CACHE_SIZE = 3_000;

/** The caches hold only results of pure functions, so clearing one is safe. */
function remember<V>(cache: Map<string, V>, key: string, value: V): V {
  if (cache.size >= CACHE_SIZE) cache.clear();
  cache.set(key, value);
  return value;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timezone: string): Intl.DateTimeFormat {
  const options = { timeZone: timezone, hourCycle: "h23", calendar: "gregory", numberingSystem: "latn" } as const;
  const fields = {
    era: "short",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  } as const;
  return formatters.get(timezone) ?? remember(formatters, timezone, new Intl.DateTimeFormat("en-US", { ...options, ...fields }));
}

/** The date and time on a clock in the zone at `at`, as the timestamp of the same date and time in UTC. */
function wallClock(timezone: string, at: number): number {
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of formatterOf(timezone).formatToParts(at)) part[type] = value;
  const field = (type: Intl.DateTimeFormatPartTypes) => Number(part[type]);
  return Date.UTC(field("year"), field("month") - 1, field("day"), field("hour"), field("minute"), field("second"));
}

const offsetAt = (timezone: string, at: number): number => wallClock(timezone, at) - Math.floor(at / 1_000) * 1_000;

/** `midnight` is in the form of wallClock. If skipped, the day starts after the jump; if it occurs twice, at the first one. */
function startOfDay(timezone: string, midnight: number): number {
  const before = midnight - offsetAt(timezone, midnight - DAY_MS);
  const after = midnight - offsetAt(timezone, midnight + DAY_MS);
  const [early, late] = before < after ? [before, after] : [after, before];
  return wallClock(timezone, early) >= midnight ? early : late;
}

/** Each day is given as its midnight in the form of wallClock. */
function datesAround(period: Period, date: number): { first: number; next: number } {
  const day = new Date(date);
  const year = day.getUTCFullYear();
  const month = day.getUTCMonth();
  switch (period) {
    case "day":
      return { first: date, next: date + DAY_MS };
    case "week": {
      const monday = date - ((day.getUTCDay() + 6) % 7) * DAY_MS;
      return { first: monday, next: monday + 7 * DAY_MS };
    }
    case "month":
      return { first: Date.UTC(year, month, 1), next: Date.UTC(year, month + 1, 1) };
    case "year":
      return { first: Date.UTC(year, 0, 1), next: Date.UTC(year + 1, 0, 1) };
  }
}

type CalendarPeriod = { readonly start: Date; readonly end: Date; readonly startText: string; readonly endText: string };

const periods = new Map<string, CalendarPeriod>();

export function calendarPeriodAt(period: Period, timezone: string, now: Date): CalendarPeriod {
  const key = `${period} ${timezone}`;
  const known = periods.get(key);
  const at = now.getTime();
  if (known !== undefined && at >= known.start.getTime() && at < known.end.getTime()) return known;
  return remember(periods, key, computePeriod(period, timezone, at));
}

function computePeriod(period: Period, timezone: string, at: number): CalendarPeriod {
  const today = Math.floor(wallClock(timezone, at) / DAY_MS) * DAY_MS;
  let { first, next } = datesAround(period, today);
  // If clocks are set back past midnight, the end of the old day occurs twice. The second time belongs to the new period.
  if (startOfDay(timezone, next) <= at) ({ first, next } = datesAround(period, next));
  const start = new Date(startOfDay(timezone, first));
  const end = new Date(startOfDay(timezone, next));
  return { start, end, startText: start.toISOString(), endText: end.toISOString() };
}

type LocalTime = { readonly minute: number; readonly weekday: number; readonly minuteOfDay: number };

const localTimes = new Map<string, LocalTime>();

/** Monday is 0. */
export function localTimeAt(timezone: string, now: Date): LocalTime {
  const minute = Math.floor(now.getTime() / MINUTE_MS);
  const known = localTimes.get(timezone);
  if (known !== undefined && known.minute === minute) return known;
  const local = wallClock(timezone, minute * MINUTE_MS);
  const weekday = (new Date(local).getUTCDay() + 6) % 7;
  return remember(localTimes, timezone, { minute, weekday, minuteOfDay: Math.floor((local % DAY_MS) / MINUTE_MS) });
}
