import { describe, expect, test } from "vitest";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import { reachOf } from "#lib/mandates/lifecycle/reach.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { assets } from "#test/mandates.ts";

const reach = (limits: Policy["limits"]) => Number(reachOf(compilePolicy({ assets, limits }, 6))) / 1e6;
const rolling = (amount: string, span: string) => ({ amount, rolling: span });

describe("what a mandate can pay in 24 hours", () => {
  test("counts a short budget as often as it is new again", () => {
    expect(reach({ perPayment: "100", budgets: [rolling("100", "PT1M")] })).toBe(144_000);
    expect(reach({ perPayment: "1", budgets: [rolling("1", "PT5H")] })).toBe(5);
    expect(reach({ perPayment: "1", budgets: [rolling("1", "PT24H")] })).toBe(1);
    expect(reach({ perPayment: "1", budgets: [rolling("1", "PT48H")] })).toBe(1);
  });

  test("is the least of the total and the budgets", () => {
    expect(reach({ perPayment: "25", total: "1000000", budgets: [rolling("25", "PT1M")] })).toBe(36_000);
    expect(reach({ perPayment: "25", total: "50", budgets: [rolling("25", "PT1M")] })).toBe(50);
    expect(reach({ perPayment: "5", budgets: [rolling("5", "PT1M"), { amount: "20", period: "day", timezone: "UTC" }] })).toBe(
      20,
    );
    expect(reach({ perPayment: "5", total: "10" })).toBe(10);
  });
});
