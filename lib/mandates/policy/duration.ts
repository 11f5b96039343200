const DURATION = /^P(?:([0-9]{1,3})D)?(?:T(?:([0-9]{1,4})H)?(?:([0-9]{1,6})M)?)?$/;
const MAX_MINUTES = 366 * 24 * 60;

/** Null unless the duration has only whole days, hours and minutes, from PT1M to P366D. */
export function minutesOf(duration: string): number | null {
  const match = DURATION.exec(duration);
  if (match === null || duration.endsWith("T")) return null;
  const [days = "0", hours = "0", minutes = "0"] = match.slice(1);
  const total = Number(days) * 1_440 + Number(hours) * 60 + Number(minutes);
  return total >= 1 && total <= MAX_MINUTES ? total : null;
}
