import { expect, test } from "vitest";
import { periodWords } from "./words.ts";

const DAY = 86_400;

test.each([
  [DAY, "a day"],
  [7 * DAY, "a week"],
  [31 * DAY, "in 31 days"],
  [366 * DAY, "in 366 days"],
  [5_400, "in 90 minutes"],
  [3_600, "in an hour"],
  [400 * DAY, "in all"],
])("a period of %s seconds is shown as %s", (periodSeconds, words) => {
  expect(periodWords({ periodSeconds, start: 0, end: 400 * DAY })).toBe(words);
  expect(periodWords({ periodSeconds, start: "1970-01-01T00:00:00Z", end: "1971-02-05T00:00:00Z" })).toBe(words);
});
