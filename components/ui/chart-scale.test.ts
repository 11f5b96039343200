import fc from "fast-check";
import { expect, test } from "vitest";
import { scaleOf } from "#components/ui/chart-scale.ts";

test.each([
  [0, [0, 1]],
  [1, [0, 0.25, 0.5, 0.75, 1]],
  [0.3, [0, 0.1, 0.2, 0.3]],
  [40.78, [0, 20, 40, 60]],
  [100, [0, 25, 50, 75, 100]],
  [1_234, [0, 500, 1_000, 1_500]],
  [0.000002, [0, 0.0000005, 0.000001, 0.0000015, 0.000002]],
])("a scale up to %d has the ticks %o", (highest, ticks) => {
  expect(scaleOf(highest)).toEqual({ top: ticks.at(-1), ticks });
});

test("a scale reaches the highest amount, in at most four equal steps", () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (highest) => {
      const { top, ticks } = scaleOf(highest);
      expect(top).toBeGreaterThanOrEqual(highest * (1 - 1e-8));
      expect(ticks.length).toBeLessThanOrEqual(5);
      expect(ticks.length).toBeGreaterThanOrEqual(2);
      expect(top).toBeLessThanOrEqual(highest * 2.6);
    }),
  );
});
