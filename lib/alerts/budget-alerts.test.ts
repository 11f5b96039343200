import { expect, test } from "vitest";
import { budgetAlerts, type BudgetFacts } from "#lib/alerts/budget-alerts.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { atomicOf } from "#lib/money.ts";

const now = new Date("2026-11-23T12:00:00Z");
const limits = {
  total: "1000",
  budgets: [
    { period: "day", timezone: "UTC", amount: "10" },
    { rolling: "PT24H", amount: "20" },
  ],
};

const bucket = (windowKey: string, used: bigint, liveUntil = "2026-11-24T00:00:00Z") => ({
  windowKey,
  liveUntil: new Date(liveUntil),
  used: atomicOf(used * 1_000_000n),
});

const mandate = (change: Partial<BudgetFacts> = {}): BudgetFacts => ({
  organizationId: "org_1",
  mandateId: "mdt_1",
  name: "Research",
  asset: "USDC",
  decimals: 6,
  policy: { assets: [{ asset: "USDC", chain: "eip155:84532" }], limits } as unknown as Policy,
  used: atomicOf(0n),
  buckets: [],
  thresholds: [80, 100],
  ...change,
});

const found = (change: Partial<BudgetFacts>) =>
  budgetAlerts(mandate(change), now).map(({ window, threshold, status }) => [window, threshold, status]);

test("a budget causes one alert at each threshold, and only one is sent if two are passed at once", () => {
  expect(found({ buckets: [bucket("day UTC", 7n)] })).toEqual([]);
  expect(found({ buckets: [bucket("day UTC", 8n)] })).toEqual([["day UTC 2026-11-23T00:00:00.000Z", 80, "waiting"]]);
  expect(found({ buckets: [bucket("day UTC", 10n)] })).toEqual([
    ["day UTC 2026-11-23T00:00:00.000Z", 80, "dropped"],
    ["day UTC 2026-11-23T00:00:00.000Z", 100, "waiting"],
  ]);
});

test("a rolling limit counts only the amounts within its span, and a new window id begins after each span", () => {
  const old = bucket("PT24H", 100n, "2026-11-23T12:00:00Z");
  expect(found({ buckets: [old, bucket("PT24H", 9n), bucket("PT24H", 8n)] })).toEqual([
    ["PT24H 2026-11-23T00:00:00.000Z", 80, "waiting"],
  ]);
});

test("a limit on the total has no period, and each mandate can have its own thresholds", () => {
  expect(found({ used: atomicOf(500_000_000n), thresholds: [50] })).toEqual([["total", 50, "waiting"]]);
  expect(found({ used: atomicOf(2_000_000_000n), thresholds: [] })).toEqual([]);
});

test("an alert states the used amount and the limit in the mandate's asset", () => {
  expect(budgetAlerts(mandate({ buckets: [bucket("day UTC", 9n)] }), now)[0]?.facts).toEqual({
    kind: "budget",
    mandateId: "mdt_1",
    name: "Research",
    span: "today",
    used: "9.00 USDC",
    limit: "10.00 USDC",
  });
});
