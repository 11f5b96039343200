import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CUT_WIDTH, cutLine, pathOf } from "#components/checkout/cut-line.ts";

const hash = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 64, maxLength: 64 });

describe("the toothed line across a checkout", () => {
  test("is the same for the same hash, stays inside its picture and never turns back", () => {
    fc.assert(
      fc.property(hash, (text) => {
        const points = cutLine(text);
        expect(pathOf(points)).toBe(pathOf(cutLine(text)));
        for (const [at, [x, y]] of points.entries()) {
          expect(x).toBeGreaterThanOrEqual(at === 0 ? 0 : points[at - 1]![0]);
          expect(x).toBeLessThanOrEqual(CUT_WIDTH);
          expect(y).toBeGreaterThan(0);
          expect(y).toBeLessThan(16);
        }
      }),
    );
  });

  test("changes if any digit of the hash changes", () => {
    const text = "0".repeat(64);
    for (let at = 0; at < 64; at += 1) {
      const other = `${text.slice(0, at)}8${text.slice(at + 1)}`;
      expect(pathOf(cutLine(other))).not.toBe(pathOf(cutLine(text)));
    }
  });
});
