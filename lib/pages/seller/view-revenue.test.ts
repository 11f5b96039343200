import { describe, expect, test } from "vitest";
import { firstDay } from "#lib/pages/days.ts";
import { revenueDays } from "#lib/pages/seller/revenue.ts";
import { viewRevenue } from "#lib/pages/seller/view-revenue.ts";
import { useDatabase } from "#test/database.ts";
import { execution, scopeOf, settlement } from "#test/received.ts";

useDatabase();

describe("viewRevenue", () => {
  const now = new Date("2026-11-21T12:00:00.000Z");

  test("has 30 days that end today, also days without a payment", () => {
    const row = { sellerId: null, resourceId: null, amount: 5n, payments: 1 };
    const days = revenueDays(
      [
        { ...row, day: "2026-11-21" },
        { ...row, day: "2026-10-01" },
      ],
      now,
      30,
    );
    expect(days).toHaveLength(30);
    expect(days[0]).toEqual({ day: "2026-10-23", amount: 0n, payments: 0 });
    expect(days.at(-1)).toEqual({ day: "2026-11-21", amount: 5n, payments: 1 });
  });

  test("reads all days of the month and the last 30 days", () => {
    expect(firstDay(now, 30).toISOString()).toBe("2026-10-23T00:00:00.000Z");
    expect(firstDay(new Date("2026-12-31T23:59:00.000Z"), 30).toISOString()).toBe("2026-12-01T00:00:00.000Z");
  });

  test("counts settled payments with and without a mandate exactly", async () => {
    await execution("org_f", { amount: 1 });
    await settlement("org_f", { amount: 2, resourceId: "other" });
    await execution("org_f", { status: "failed" });
    await execution("org_f", { status: "pending" });
    await execution("org_f", { daysAgo: 40 });
    const [revenue, ...more] = await viewRevenue(scopeOf("org_f"));
    expect(more).toEqual([]);
    expect(revenue?.days.at(-1)).toMatchObject({ amount: "0.000003", payments: 2 });
    expect(revenue?.month).toEqual({ amount: "0.000003", payments: 2 });
    expect(revenue?.resources).toEqual({
      "sel_1 report": { amount: "0.000001", payments: 1 },
      "sel_1 other": { amount: "0.000002", payments: 1 },
    });
  });

  test("is empty before the first payment", async () => expect(await viewRevenue(scopeOf("org_none"))).toEqual([]));
});
