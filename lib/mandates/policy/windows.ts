import { calendarPeriodAt } from "#lib/mandates/policy/calendar.ts";
import { minutesOf } from "#lib/mandates/policy/duration.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { parseAmount, type Atomic } from "#lib/money.ts";
import type { Period } from "#lib/vocabulary.ts";

/** The number of buckets into which the span of a rolling window is divided. */
const PARTS = 60;

type Caps = { readonly limit?: Atomic; readonly limitPointer?: string; readonly max?: number; readonly maxPointer?: string };
type CalendarWindow = Caps & {
  readonly key: string;
  readonly kind: "calendar";
  readonly period: Period;
  readonly timezone: string;
};
type RollingWindow = Caps & { readonly key: string; readonly kind: "rolling"; readonly spanMs: number };

export type Window = CalendarWindow | RollingWindow;

export type Bucket = { readonly windowKey: string; readonly start: Date; readonly end: Date; readonly liveUntil: Date };

export function windowsOf(policy: Policy, decimals: number): Window[] {
  const windows = new Map<string, Window>();
  const merge = (entry: Span, caps: Caps) => {
    const window = windowOf(entry);
    windows.set(window.key, { ...(windows.get(window.key) ?? window), ...caps });
  };
  policy.limits.budgets?.forEach((budget, index) => {
    merge(budget, { limit: parseAmount(budget.amount, decimals), limitPointer: `/limits/budgets/${index}` });
  });
  policy.limits.counts?.forEach((count, index) => merge(count, { max: count.max, maxPointer: `/limits/counts/${index}` }));
  return [...windows.values()];
}

export type Span = { readonly period: Period; readonly timezone: string } | { readonly rolling: string };

export function windowOf(entry: Span): Window {
  if ("period" in entry) {
    const { period, timezone } = entry;
    return { key: `${period} ${timezone}`, kind: "calendar", period, timezone };
  }
  const minutes = minutesOf(entry.rolling);
  if (minutes === null) throw new RangeError(`${entry.rolling} is no rolling window.`);
  return { key: minutes % 60 === 0 ? `PT${minutes / 60}H` : `PT${minutes}M`, kind: "rolling", spanMs: minutes * 60_000 };
}

/** A rolling window is a whole number of minutes, so each of its 60 buckets starts on a whole second. */
export function bucketAt(window: Window, now: Date): Bucket {
  if (window.kind === "calendar") {
    const { start, end } = calendarPeriodAt(window.period, window.timezone, now);
    return { windowKey: window.key, start, end, liveUntil: end };
  }
  const width = window.spanMs / PARTS;
  const start = Math.floor(now.getTime() / width) * width;
  return {
    windowKey: window.key,
    start: new Date(start),
    end: new Date(start + width),
    liveUntil: new Date(start + width + window.spanMs),
  };
}

/** A rolling window's oldest bucket counts in full, so the limit holds for the span; the window is at most 1/60 too long. */
export const bucketCounts = (bucket: { readonly liveUntil: Date }, now: Date): boolean =>
  bucket.liveUntil.getTime() > now.getTime();

/** From `start` until before `end`. */
export function windowAt(window: Window, now: Date): { readonly start: Date; readonly end: Date } {
  if (window.kind === "calendar") return calendarPeriodAt(window.period, window.timezone, now);
  const width = window.spanMs / PARTS;
  const end = (Math.floor(now.getTime() / width) + 1) * width;
  return { start: new Date(end - width - window.spanMs), end: new Date(end) };
}
