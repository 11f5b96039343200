import { localTimeAt } from "#lib/mandates/calendar.ts";

/** A part of the day in which no device makes a sound, as "22:00" to "07:00". */
export type QuietHours = { readonly from: string; readonly to: string; readonly timezone: string };

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

/** Whether the time is in the quiet hours, which may pass midnight. `to` itself is outside. */
export function isQuiet(hours: QuietHours | null, now: Date): boolean {
  if (hours === null) return false;
  const { minuteOfDay: minute } = localTimeAt(hours.timezone, now);
  const [from, to] = [minuteOf(hours.from), minuteOf(hours.to)];
  return from < to ? from <= minute && minute < to : from <= minute || minute < to;
}
