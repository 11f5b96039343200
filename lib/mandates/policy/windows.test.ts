import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calendarPeriodAt, localTimeAt } from "#lib/mandates/policy/calendar.ts";
import { bucketAt, bucketCounts, windowAt, windowOf, windowsOf } from "#lib/mandates/policy/windows.ts";
import { policyOf, usdc } from "#test/mandate-facts.ts";

type Row = [period: "day" | "week" | "month" | "year", timezone: string, now: string, start: string, end: string];

const rows: Row[] = [
  ["day", "UTC", "2026-11-21T12:00:00Z", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"],
  ["day", "UTC", "2026-11-21T00:00:00Z", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"],
  ["day", "Europe/Berlin", "2026-11-21T23:30:00Z", "2026-11-21T23:00:00Z", "2026-11-22T23:00:00Z"],
  // Days on which clocks are set forward have 23 hours, days on which they are set back have 25.
  ["day", "Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
  ["day", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
  ["day", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
  ["day", "Europe/Berlin", "2026-10-25T22:59:59.999Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
  ["week", "Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-22T23:00:00Z", "2026-03-29T22:00:00Z"],
  ["month", "Europe/Berlin", "2026-03-29T12:00:00Z", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"],
  // Weeks start on Monday, also at the end of a year.
  ["week", "UTC", "2026-11-22T23:59:59.999Z", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"],
  ["week", "UTC", "2026-11-23T00:00:00Z", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"],
  ["week", "UTC", "2027-01-02T00:00:00Z", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"],
  // The year 2028 has a 29 February.
  ["day", "UTC", "2028-02-29T12:00:00Z", "2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z"],
  ["month", "UTC", "2028-02-29T12:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"],
  ["year", "UTC", "2028-12-31T12:00:00Z", "2028-01-01T00:00:00Z", "2029-01-01T00:00:00Z"],
  ["year", "America/New_York", "2027-01-01T04:59:59Z", "2026-01-01T05:00:00Z", "2027-01-01T05:00:00Z"],
  // Zones whose clocks change at midnight: the day starts after the gap in spring, and at the first of the two midnights in autumn.
  ["day", "America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"],
  ["day", "Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"],
  ["day", "America/Havana", "2026-11-01T05:30:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"],
  // Zones whose clocks go back past midnight: the repeated hour belongs to only one day.
  ["day", "America/Sao_Paulo", "2018-02-18T02:30:00Z", "2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z"],
  ["day", "America/St_Johns", "2010-11-07T02:45:00Z", "2010-11-07T02:30:00Z", "2010-11-08T03:30:00Z"],
];

describe("calendar windows", () => {
  test.each(rows)("the calendar %s in %s that contains %s", (period, timezone, now, start, end) => {
    const found = calendarPeriodAt(period, timezone, new Date(now));
    expect([found.start, found.end]).toEqual([new Date(start), new Date(end)]);
  });

  test("contain now, follow each other without a gap, and start at local midnight", () => {
    const zones = fc.constantFrom(
      "UTC",
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "Asia/Kathmandu",
      "Africa/Cairo",
      "America/Havana",
    );
    const times = fc.date({ min: new Date("2020-01-01T00:00:00Z"), max: new Date("2036-01-01T00:00:00Z"), noInvalidDate: true });
    fc.assert(
      fc.property(zones, fc.constantFrom("day", "week", "month", "year"), times, (timezone, period, now) => {
        const { start, end } = calendarPeriodAt(period, timezone, now);
        expect(start <= now && now < end).toBe(true);
        expect(calendarPeriodAt(period, timezone, end).start).toEqual(end);
        expect(calendarPeriodAt(period, timezone, new Date(start.getTime() - 1)).end).toEqual(start);
        expect(localTimeAt(timezone, start).minuteOfDay).toBeLessThanOrEqual(60);
        if (period === "week") expect(localTimeAt(timezone, start).weekday).toBe(0);
      }),
    );
  });

  test("local time follows daylight saving", () => {
    expect(localTimeAt("Europe/Berlin", new Date("2026-03-29T00:59:00Z"))).toMatchObject({ weekday: 6, minuteOfDay: 119 });
    expect(localTimeAt("Europe/Berlin", new Date("2026-03-29T01:00:00Z"))).toMatchObject({ weekday: 6, minuteOfDay: 180 });
  });
});

describe("rolling windows", () => {
  test("a bucket is a sixtieth of the span and starts on a whole second", () => {
    const bucket = bucketAt(windowOf({ rolling: "PT24H" }), new Date("2026-11-21T12:30:00Z"));
    expect(bucket).toEqual({
      windowKey: "PT24H",
      start: new Date("2026-11-21T12:24:00Z"),
      end: new Date("2026-11-21T12:48:00Z"),
      liveUntil: new Date("2026-11-22T12:48:00Z"),
    });
  });

  test("count every payment of the span, and none that is older than 61 sixtieths of the span", () => {
    const seconds = fc.integer({ min: 0, max: 2_000_000_000 });
    fc.assert(
      fc.property(fc.constantFrom("PT1M", "PT7M", "PT24H", "P366D", "P1DT1H1M"), seconds, fc.nat(), (rolling, at, age) => {
        const window = windowOf({ rolling });
        if (window.kind !== "rolling") throw new Error("not rolling");
        const paid = new Date(at * 1_000);
        const bucket = bucketAt(window, paid);
        expect(bucket.start <= paid && paid < bucket.end).toBe(true);
        expect(Number.isInteger(bucket.start.getTime() / 1_000)).toBe(true);
        const now = new Date(paid.getTime() + (age % (window.spanMs * 2)));
        const passed = now.getTime() - paid.getTime();
        if (passed < window.spanMs) expect(bucketCounts(bucket, now)).toBe(true);
        if (passed >= window.spanMs + window.spanMs / 60) expect(bucketCounts(bucket, now)).toBe(false);
        const shown = windowAt(window, now);
        expect(bucketCounts(bucket, now)).toBe(bucket.start >= shown.start && bucket.start < shown.end);
      }),
    );
  });
});

describe("windowsOf", () => {
  test("a budget and a count of the same span are one window", () => {
    const limits = {
      budgets: [
        { period: "day", timezone: "UTC", amount: "5" },
        { rolling: "P1D", amount: "6" },
      ],
      counts: [
        { rolling: "PT24H", max: 9 },
        { period: "day", timezone: "Europe/Berlin", max: 3 },
      ],
    };
    expect(windowsOf(policyOf({ limits }), 6)).toEqual([
      { key: "day UTC", kind: "calendar", period: "day", timezone: "UTC", limit: usdc("5"), limitPointer: "/limits/budgets/0" },
      {
        key: "PT24H",
        kind: "rolling",
        spanMs: 86_400_000,
        limit: usdc("6"),
        limitPointer: "/limits/budgets/1",
        max: 9,
        maxPointer: "/limits/counts/0",
      },
      {
        key: "day Europe/Berlin",
        kind: "calendar",
        period: "day",
        timezone: "Europe/Berlin",
        max: 3,
        maxPointer: "/limits/counts/1",
      },
    ]);
  });
});
