import { describe, expect, test } from "vitest";
import { atomicOf, zero } from "#lib/money.ts";
import { at, decideRow, DAY, usageOf, usdc, usedToday, type RuleRow } from "#test/mandate-facts.ts";

const rows: RuleRow[] = [
  {
    guarantee: "inside the schedule (Saturday noon in London)",
    rules: { schedule: { days: ["saturday"], from: "12:00", to: "12:01", timezone: "Europe/London" } },
    code: null,
  },
  {
    guarantee: "the schedule ends before `to`",
    rules: { schedule: { days: ["saturday"], from: "00:00", to: "12:00", timezone: "UTC" } },
    code: "outside_schedule",
  },
  {
    guarantee: "the schedule follows its zone (01:00 on Sunday in Auckland)",
    rules: { schedule: { days: ["saturday"], from: "00:00", to: "24:00", timezone: "Pacific/Auckland" } },
    code: "outside_schedule",
  },
  { guarantee: "exactly the limit per payment", intent: { amount: usdc("1") }, code: null },
  { guarantee: "one unit above the limit per payment", intent: { amount: usdc("1.000001") }, code: "per_payment_limit_exceeded" },
  {
    guarantee: "the buyer's share of the fee counts in the limit per payment",
    intent: { amount: usdc("1"), fee: { serviceFee: usdc("0.1"), buyerShare: usdc("0.000001") } },
    code: "per_payment_limit_exceeded",
  },
  {
    guarantee: "the seller's share of the fee does not count",
    intent: { amount: usdc("1"), fee: { serviceFee: usdc("0.1"), buyerShare: zero } },
    code: null,
  },
  {
    guarantee: "the day's budget to the last unit",
    rules: { limits: { budgets: [{ ...DAY, amount: "5" }] } },
    usage: usedToday("4.5"),
    code: null,
  },
  {
    guarantee: "one unit more than the day's budget",
    rules: { limits: { budgets: [{ ...DAY, amount: "5" }] } },
    usage: usedToday("4.500001"),
    code: "period_budget_exceeded",
  },
  {
    guarantee: "the buyer's share of the fee counts in the budget",
    rules: { limits: { budgets: [{ ...DAY, amount: "5" }] } },
    usage: usedToday("4.5"),
    intent: { fee: { serviceFee: usdc("0.01"), buyerShare: usdc("0.01") } },
    code: "period_budget_exceeded",
  },
  { guarantee: "the total to the last unit", usage: usageOf({ spent: usdc("99"), reserved: usdc("0.5") }), code: null },
  {
    guarantee: "one unit more than the total",
    usage: usageOf({ spent: usdc("99"), reserved: usdc("0.500001") }),
    code: "total_budget_exceeded",
  },
  {
    guarantee: "the last payment of the day",
    rules: { limits: { counts: [{ ...DAY, max: 3 }] } },
    usage: usedToday("1", 2),
    code: null,
  },
  {
    guarantee: "one payment too many",
    rules: { limits: { counts: [{ ...DAY, max: 3 }] } },
    usage: usedToday("1", 3),
    code: "count_limit_exceeded",
  },
  {
    guarantee: "the cooldown is over",
    rules: { limits: { cooldownSeconds: 60 } },
    usage: usageOf({ lastHeldAt: at(-60_000) }),
    code: null,
  },
  {
    guarantee: "the cooldown lasts to its end",
    rules: { limits: { cooldownSeconds: 60 } },
    usage: usageOf({ lastHeldAt: at(-59_999) }),
    code: "cooldown_active",
  },
  { guarantee: "the first payment waits for no cooldown", rules: { limits: { cooldownSeconds: 60 } }, code: null },
  {
    guarantee: "a fee within the tolerance",
    rules: { maximumFee: { bps: 100 } },
    intent: { fee: { serviceFee: usdc("0.005"), buyerShare: usdc("0.005") } },
    code: null,
  },
  {
    guarantee: "a fee above the tolerated share",
    rules: { maximumFee: { bps: 100 } },
    intent: { fee: { serviceFee: usdc("0.005001"), buyerShare: usdc("0.005001") } },
    code: "fee_limit_exceeded",
  },
  {
    guarantee: "a fee above the tolerated amount",
    rules: { maximumFee: { amount: "0" } },
    intent: { fee: { serviceFee: atomicOf(1n), buyerShare: atomicOf(1n) } },
    code: "fee_limit_exceeded",
  },
];

describe("rules of time and money", () => {
  test.each(rows)("$guarantee: $code", (row) => {
    const decision = decideRow(row);
    expect(decision.denialCode ?? null).toBe(row.code);
    expect(decision.outcome).toBe(row.code === null ? "allow" : "deny");
    if (row.code !== null) expect(decision.reasons[0]).toMatchObject({ code: row.code, effect: "deny" });
  });
});
