import { dayOf, daysAfter } from "#lib/time.ts";

export const lastDays = (now: Date, count: number): string[] =>
  Array.from({ length: count }, (_, at) => dayOf(daysAfter(now, at - count + 1)));

export const monthOf = (now: Date): string => dayOf(now).slice(0, 7);

/** UTC midnight of the first of the last `count` days, or of the first day of this month if that is earlier. */
export const firstDay = (now: Date, count: number): Date =>
  new Date(Math.min(Date.parse(dayOf(daysAfter(now, 1 - count))), Date.parse(`${monthOf(now)}-01`)));
