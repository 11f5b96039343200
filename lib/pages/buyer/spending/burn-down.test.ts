import { expect, test } from "vitest";
import { burnDown } from "#lib/pages/buyer/spending/burn-down.ts";

const start = new Date("2026-11-01T00:00:00.000Z");
const at = (day: number, hour = 0) => new Date(Date.UTC(2026, 10, day, hour));

test("a month has one step for each day: the amount left on past days, the amount left now, and nothing for future days", () => {
  const use = [
    { hour: 5, amount: 10n },
    { hour: 26, amount: 20n },
    { hour: 49, amount: 5n },
  ];
  const steps = burnDown(use, 65n, { start, end: at(31), now: at(3, 2) });
  expect(steps).toHaveLength(30);
  expect(steps.map(({ left }) => left).slice(0, 5)).toEqual([90n, 70n, 65n, null, null]);
  expect(steps[1]?.at).toEqual(at(2));
});

test("a day has one step for each hour, also a day of 25 hours, and a year one for each week", () => {
  expect(burnDown([], 1n, { start, end: new Date(start.getTime() + 25 * 3_600_000), now: start })).toHaveLength(25);
  expect(burnDown([], 1n, { start, end: new Date(start.getTime() + 365 * 86_400_000), now: start })).toHaveLength(53);
});

test("steps before the first hour that was read have no amount", () => {
  const steps = burnDown([{ hour: 30, amount: 1n }], 9n, { start, end: at(31), now: at(3) }, 30);
  expect(steps.map(({ left }) => left).slice(0, 3)).toEqual([null, 9n, 9n]);
});
