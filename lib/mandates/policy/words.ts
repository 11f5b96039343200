import { minutesOf } from "#lib/mandates/policy/duration.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import type { Span } from "#lib/mandates/policy/windows.ts";

export type Weekday = NonNullable<Policy["schedule"]>["days"][number];

export const weekdays: readonly Weekday[] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

const periods = { day: "a day", week: "a week", month: "a month", year: "a year" } as const;

/** "a day", or "in 24 hours" for a rolling window. */
export function spanWords(span: Span): string {
  if ("period" in span) return periods[span.period];
  const minutes = minutesOf(span.rolling);
  if (minutes === null) return "in …";
  if (minutes % 1_440 === 0 && minutes > 1_440) return `in ${minutes / 1_440} days`;
  if (minutes % 60 === 0) return minutes === 60 ? "in an hour" : `in ${minutes / 60} hours`;
  return minutes === 1 ? "in a minute" : `in ${minutes} minutes`;
}

/** A window is named by text such as "day Europe/Vienna", "PT24H" or "total". */
export function windowWords(window: string): string {
  if (window === "total") return "in all";
  const [period = window] = window.split(" ");
  return spanWords(period in periods ? { period: period as keyof typeof periods, timezone: "UTC" } : { rolling: period });
}

/** "4 hours", "30 minutes": whole hours or, rounded, minutes. */
export function secondsWords(seconds: number): string {
  const [count, unit] = seconds % 3_600 === 0 ? [seconds / 3_600, "hour"] : [Math.round(seconds / 60), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

const capital = (day: Weekday): string => `${day[0]?.toUpperCase()}${day.slice(1)}s`;

export function daysWords(days: readonly Weekday[]): string {
  const chosen = weekdays.filter((day) => days.includes(day));
  if (chosen.length === 7) return "every day";
  if (chosen.join() === weekdays.slice(0, 5).join()) return "on weekdays";
  if (chosen.join() === weekdays.slice(5).join()) return "at weekends";
  if (chosen.length === 0) return "on no day";
  return `on ${listWords(chosen.map((day) => [capital(day)])).join("")}`;
}

/** 250 is "2.5 % of the price". */
export const feeWords = (bps: number): string => `${Number((bps / 100).toFixed(2))} % of the price`;

/** As "a, b and c"; each entry is a list. */
export const listWords = <T>(entries: readonly (readonly T[])[]): (T | string)[] =>
  entries.flatMap((entry, at) => [...(at === 0 ? [] : [at === entries.length - 1 ? " and " : ", "]), ...entry]);

const day = { day: "numeric", month: "long", year: "numeric" } as const;
const time = { hour: "2-digit", minute: "2-digit" } as const;

/** "31 March 2027, 22:00 UTC", or "1 April 2027, midnight Europe/Vienna time"; an ellipsis for text that is not a time. */
export function momentWords(at: string, timeZone = "UTC"): string {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return "…";
  const format = (parts: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat("en-GB", { ...parts, timeZone }).format(moment);
  const clock = format(time);
  return `${format(day)}, ${clock === "00:00" ? "midnight" : clock} ${timeZone === "UTC" ? "UTC" : `${timeZone} time`}`;
}
