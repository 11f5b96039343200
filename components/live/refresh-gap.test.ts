import { expect, test } from "vitest";
import { afterReading, calm, waitOf, type Pace } from "./refresh-gap.ts";

test("a first change is shown at once; with more changes the time between refreshes grows to half a minute, and it shrinks when changes stop", () => {
  expect(waitOf(calm, 0)).toBe(0);
  let pace: Pace = afterReading(calm, 0);
  expect(waitOf(pace, 400)).toBe(600);
  const gaps: number[] = [];
  let now = 0;
  for (let changes = 0; changes < 7; changes += 1) {
    now += waitOf(pace, now);
    pace = afterReading(pace, now);
    gaps.push(pace.gapMs);
  }
  expect(gaps).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  pace = afterReading(pace, now + 60_000);
  expect(pace.gapMs).toBe(1_000);
});
