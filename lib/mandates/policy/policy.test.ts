import { describe, expect, test } from "vitest";
import { decide } from "#lib/mandates/policy/policy.ts";
import { intentOf, mandateOf, NOW, dayBucket, DAY, usageOf, usdc, usedToday } from "#test/mandate-facts.ts";

describe("decide", () => {
  const approvals = [
    { guarantee: "never asks", approval: { mode: "never" }, outcome: "allow" },
    { guarantee: "always asks", approval: { mode: "always" }, outcome: "requireApproval" },
    { guarantee: "does not ask up to the amount", approval: { mode: "above", amount: "0.5" }, outcome: "allow" },
    { guarantee: "asks above the amount", approval: { mode: "above", amount: "0.499999" }, outcome: "requireApproval" },
    { guarantee: "does not ask for a seller that was paid", approval: { mode: "firstPayment" }, outcome: "allow" },
    {
      guarantee: "asks for a new seller",
      approval: { mode: "firstPayment" },
      intent: { sellerPaidBefore: false },
      outcome: "requireApproval",
    },
  ];
  test.each(approvals)("approval $approval.mode $guarantee", ({ approval, intent, outcome }) => {
    expect(decide(mandateOf({ approval }), usageOf(), intentOf(intent), NOW).outcome).toBe(outcome);
  });

  test("the amount that needs approval includes the buyer's share of the fee", () => {
    const fee = { serviceFee: usdc("0.01"), buyerShare: usdc("0.01") };
    const mandate = mandateOf({ approval: { mode: "above", amount: "0.5" } });
    expect(decide(mandate, usageOf(), intentOf({ fee }), NOW).outcome).toBe("requireApproval");
  });

  test("nobody is asked to approve a payment that another rule denies", () => {
    const decision = decide(mandateOf({ approval: { mode: "always" } }, { status: "revoked" }), usageOf(), intentOf(), NOW);
    expect(decision).toMatchObject({ outcome: "deny", denialCode: "mandate_revoked" });
    expect(decision.reasons.find(({ code }) => code === "approval_required")?.effect).toBe("info");
  });

  test("a reason shows the remaining amount in units of the asset", () => {
    const budgets = [{ period: "day", timezone: "Europe/Berlin", amount: "20" }];
    const bucket = {
      ...dayBucket("18.2", 4),
      start: new Date("2026-11-20T23:00:00Z"),
      liveUntil: new Date("2026-11-21T23:00:00Z"),
    };
    const usage = usageOf({ spent: usdc("18.2"), buckets: new Map([["day Europe/Berlin", [bucket]]]) });
    const decision = decide(mandateOf({ limits: { perPayment: "1", budgets } }), usage, intentOf({ amount: usdc("2") }), NOW);
    expect(decision.reasons.slice(0, 2)).toEqual([
      {
        code: "per_payment_limit_exceeded",
        rule: "limits.perPayment",
        effect: "deny",
        message: "This payment of 2.00 USDC is above the limit of 1.00 USDC per payment.",
        pointer: "/limits/perPayment",
        limit: "1",
        requested: "2",
        unit: "USDC",
        policyVersion: 3,
      },
      {
        code: "period_budget_exceeded",
        rule: "limits.budgets",
        effect: "deny",
        message: "1.80 USDC of 20.00 USDC are left today, and this payment takes 2.00 USDC.",
        pointer: "/limits/budgets/0",
        limit: "20",
        used: "18.2",
        requested: "2",
        remaining: "1.8",
        unit: "USDC",
        window: {
          kind: "calendar",
          start: "2026-11-20T23:00:00.000Z",
          end: "2026-11-21T23:00:00.000Z",
          timezone: "Europe/Berlin",
        },
        policyVersion: 3,
      },
    ]);
  });

  test("buckets of an ended window no longer count", () => {
    const rules = { limits: { budgets: [{ ...DAY, amount: "5" }] } };
    const next = new Date("2026-11-22T00:00:00Z");
    const intent = intentOf({ expiresAt: new Date("2026-11-22T01:00:00Z") });
    expect(decide(mandateOf(rules), usedToday("5"), intent, new Date(next.getTime() - 1)).outcome).toBe("deny");
    expect(decide(mandateOf(rules), usedToday("5"), intent, next).outcome).toBe("allow");
  });
});
