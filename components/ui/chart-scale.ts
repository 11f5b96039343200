const STEPS = [1, 2, 2.5, 5, 10] as const;
const PARTS = 4;

/** At most four equal steps of round amounts, from zero to a top that is at least the highest amount. */
export function scaleOf(highest: number) {
  if (!(highest > 0)) return { top: 1, ticks: [0, 1] };
  const least = highest / PARTS;
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = STEPS.find((step) => step * power >= least * (1 - 1e-9)) ?? 10;
  const count = Math.max(1, Math.ceil((highest / (factor * power)) * (1 - 1e-9)));
  // Round to 12 digits, because 3 * 0.1 is not 0.3 in floating point.
  const tick = (at: number) => Number((at * factor * power).toPrecision(12));
  const ticks = Array.from({ length: count + 1 }, (_, at) => tick(at));
  return { top: tick(count), ticks };
}
