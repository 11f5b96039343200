import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lifeAt, periodAt } from "#lib/onchain/registry/periods.ts";

const times = fc
  .record({
    start: fc.integer({ min: 0, max: 2_000_000_000 }),
    length: fc.integer({ min: 1, max: 40_000_000 }),
    periodSeconds: fc.integer({ min: 1, max: 40_000_000 }),
  })
  .map(({ start, length, periodSeconds }) => ({ start, end: start + length, periodSeconds }));
const offset = fc.integer({ min: -100, max: 40_000_100 });
const at = (second: number) => new Date(second * 1_000);

describe("the periods of a registered mandate", () => {
  test("a payment is valid only within its period and the mandate's time, as the registry counts them", () => {
    fc.assert(
      fc.property(times, offset, fc.integer({ min: 1, max: 86_400 }), (mandate, seconds, usual) => {
        const now = mandate.start + seconds;
        const life = lifeAt(mandate, at(now), usual);
        if (life.kind !== "open") return;
        const registryPeriod = (second: number) => Math.floor((second - mandate.start) / mandate.periodSeconds);
        expect(life.period).toBe(registryPeriod(now));
        // The token accepts a payment only before the time validBefore, so the last valid second must be in the same period.
        expect(registryPeriod(life.validBefore - 1)).toBe(life.period);
        expect(life.validBefore).toBeLessThanOrEqual(mandate.end);
        expect(life.validBefore - now).toBeGreaterThanOrEqual(45);
      }),
    );
  });

  test("every second of the mandate's validity is in exactly one period, and no other second is in any", () => {
    fc.assert(
      fc.property(times, offset, (mandate, seconds) => {
        const now = mandate.start + seconds;
        const inside = now >= mandate.start && now < mandate.end;
        expect(periodAt(mandate, at(now)) !== null).toBe(inside);
      }),
    );
  });

  test.each([
    ["before the start", -1, "notStarted"],
    ["at the start", 0, "open"],
    ["45 seconds before a period ends", 3_555, "open"],
    ["44 seconds before a period ends", 3_556, "edge"],
    ["when the next one begins", 3_600, "open"],
    ["44 seconds before the end", 7_956, "ended"],
    ["at the end", 8_000, "ended"],
  ])("%s", (_name, seconds, kind) => {
    expect(lifeAt({ start: 1_000, end: 9_000, periodSeconds: 3_600 }, at(1_000 + seconds), 300).kind).toBe(kind);
  });
});
