import { localTimeAt } from "#lib/mandates/policy/calendar.ts";

/** The hours of the day in which the service sends no message to a person's devices, such as "22:00" to "07:00". */
export type QuietHours = { readonly from: string; readonly to: string; readonly timezone: string };

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

/** If `to` is earlier than `from`, the hours pass midnight; the time `to` itself is outside. */
export function isQuiet(hours: QuietHours | null, now: Date): boolean {
  if (hours === null) return false;
  const { minuteOfDay: minute } = localTimeAt(hours.timezone, now);
  const [from, to] = [minuteOf(hours.from), minuteOf(hours.to)];
  return from < to ? from <= minute && minute < to : from <= minute || minute < to;
}
