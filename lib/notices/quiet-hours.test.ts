import { expect, test } from "vitest";
import { isQuiet } from "#lib/notices/quiet-hours.ts";

const night = { from: "22:00", to: "07:30", timezone: "Europe/Berlin" };
const noon = { from: "12:00", to: "13:00", timezone: "America/New_York" };
const evening = { from: "18:00", to: "24:00", timezone: "UTC" };

test.each([
  [night, "2026-11-23T20:59:59Z", false],
  [night, "2026-11-23T21:00:00Z", true],
  [night, "2026-11-24T06:29:59Z", true],
  [night, "2026-11-24T06:30:00Z", false],
  // Berlin is two hours ahead of UTC in summer and one hour in winter.
  [night, "2026-07-23T20:00:00Z", true],
  [noon, "2026-11-23T17:30:00Z", true],
  [noon, "2026-11-23T18:00:00Z", false],
  [evening, "2026-11-23T23:59:00Z", true],
  [evening, "2026-11-24T00:00:00Z", false],
  [null, "2026-11-23T23:00:00Z", false],
])("quiet hours %j at %s: %s", (hours, time, quiet) => {
  expect(isQuiet(hours, new Date(time))).toBe(quiet);
});
