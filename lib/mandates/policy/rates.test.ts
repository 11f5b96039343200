import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "#lib/mandates/policy/policy.ts";
import { atomicOf, parseAmount, UNIT_DECIMALS, zero } from "#lib/money.ts";
import { CHAIN, decideRow, hold, intentOf, mandateOf, NOW, usageOf, usdc, type RuleRow } from "#test/mandate-facts.ts";

const usd = (text: string) => parseAmount(text, UNIT_DECIMALS);
const inUsd = {
  unit: "USD",
  assets: [
    { asset: "USDC", chain: CHAIN, counts: "1" },
    { asset: "EURC", chain: CHAIN, counts: "1.12" },
    { asset: "DAI", chain: "eip155:1", counts: "0.999" },
  ],
};
const euros = (amount: string) => ({ asset: "EURC", amount: usdc(amount) });
const share = (text: string) => ({ serviceFee: usdc(text), buyerShare: usdc(text) });

const rows: RuleRow[] = [
  { guarantee: "an asset that counts as 1", code: null },
  { guarantee: "the largest payment in another asset", intent: euros("0.892857"), code: null },
  { guarantee: "a payment that counts as a little more", intent: euros("0.892858"), code: "per_payment_limit_exceeded" },
  { guarantee: "a limit in the unit", rules: { limits: { perPayment: "0.5" } }, code: null },
  { guarantee: "a limit a little lower", rules: { limits: { perPayment: "0.499999999" } }, code: "per_payment_limit_exceeded" },
  {
    guarantee: "price and fee, rounded up together",
    rules: { limits: { perPayment: "0.560001120" } },
    intent: { ...euros("0.5"), fee: share("0.000001") },
    code: null,
  },
  {
    guarantee: "a total of which too little is left",
    usage: usageOf({ spent: usd("99.5") }),
    intent: euros("0.5"),
    code: "total_budget_exceeded",
  },
  { guarantee: "an asset that is not listed", intent: { asset: "PYUSD" }, code: "asset_not_allowed" },
  { guarantee: "an asset that is listed on another chain", intent: { asset: "DAI" }, code: "chain_not_allowed" },
  { guarantee: "an asset that is not configured any more", intent: { decimals: null }, code: "chain_not_allowed" },
  {
    guarantee: "a fee in the unit",
    rules: { maximumFee: { amount: "0.1" } },
    intent: { ...euros("0.5"), fee: share("0.09") },
    code: "fee_limit_exceeded",
  },
  {
    guarantee: "a fee as a part of the price",
    rules: { maximumFee: { bps: 100 } },
    intent: { ...euros("0.5"), fee: share("0.005") },
    code: null,
  },
  {
    guarantee: "a fee above its part of the price",
    rules: { maximumFee: { bps: 100 } },
    intent: { ...euros("0.5"), fee: share("0.005001") },
    code: "fee_limit_exceeded",
  },
];

describe("under a mandate in USD", () => {
  test.each(rows)("$guarantee: $code", (row) => {
    const decision = decideRow({ ...row, rules: { ...inUsd, ...row.rules } });
    expect(decision.denialCode ?? null).toBe(row.code);
    expect(decision.outcome).toBe(row.code === null ? "allow" : "deny");
  });

  test("a decision says what the payment counts as, and its amounts are in USD", () => {
    const { reasons, findings } = decide(mandateOf(inUsd), usageOf(), intentOf(euros("0.25")), NOW);
    expect(findings.slice(0, 4)).toEqual([1, 3, "USD", "0.28"]);
    expect(reasons.find(({ rule }) => rule === "assets")).toMatchObject({
      message: `0.25 EURC on ${CHAIN} count as 0.28 USD: 1 EURC counts as 1.12 USD.`,
      pointer: "/assets/1",
    });
    expect(reasons.find(({ rule }) => rule === "limits.total")).toMatchObject({ limit: "100", requested: "0.28", unit: "USD" });
  });

  test("a person is asked above an amount in USD", () => {
    const mandate = mandateOf({ ...inUsd, approval: { mode: "above", amount: "0.5" } });
    const outcome = (amount: string) => decide(mandate, usageOf(), intentOf(euros(amount)), NOW).outcome;
    expect([outcome("0.446428"), outcome("0.446429")]).toEqual(["allow", "requireApproval"]);
  });

  test("nothing is said about the amount of a payment in an asset without a rate", () => {
    const { reasons } = decide(mandateOf(inUsd), usageOf(), intentOf({ asset: "PYUSD" }), NOW);
    expect(reasons.filter(({ rule }) => rule.startsWith("limits"))).toEqual([]);
  });

  test("payments in any assets together never count as more than the total", () => {
    const payments = fc.array(
      fc.record({ asset: fc.constantFrom("USDC", "EURC"), units: fc.bigInt({ min: 1n, max: 900_000n }) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(payments, fc.constantFrom("1.12", "0.000001", "1.123456789"), (list, counts) => {
        const mandate = mandateOf({
          unit: "USD",
          assets: [inUsd.assets[0], { ...inUsd.assets[1], counts }],
          limits: { perPayment: "2", total: "5" },
        });
        const usage = usageOf();
        let exact = 0n;
        for (const { asset, units } of list) {
          const intent = intentOf({ asset, amount: atomicOf(units) });
          const { outcome, findings } = decide(mandate, usage, intent, NOW);
          if (outcome !== "allow") continue;
          hold(mandate, usage, usd(findings[3]), NOW);
          exact += units * (asset === "USDC" ? usd("1") : usd(counts));
        }
        expect(usage.reserved).toBeLessThanOrEqual(usd("5"));
        expect(exact).toBeLessThanOrEqual(usage.reserved * 1_000_000n);
      }),
    );
  });
});

describe("the rails that a mandate admits", () => {
  const outcome = (rules: Record<string, unknown>, paymentChallengeType = "x402") => {
    const resource = { ...intentOf().resource!, acceptedPaymentChallengeTypes: [paymentChallengeType] };
    const { denialCode, reasons } = decide(mandateOf(rules), usageOf(), intentOf({ paymentChallengeType, resource }), NOW);
    return [denialCode ?? null, reasons.some(({ rule }) => rule === "rails")];
  };

  test.each<[string, Record<string, unknown>, string | undefined, [string | null, boolean]]>([
    ["x402 under a mandate that names none, which is not told", {}, undefined, [null, false]],
    ["x402 under a mandate that names it", { rails: ["x402"] }, undefined, [null, true]],
    ["x402 under a mandate that names another", { rails: ["record"] }, undefined, ["protocol_not_allowed", true]],
    ["a record under a mandate that names none", {}, "record", ["protocol_not_allowed", true]],
  ])("%s", (_what, rules, type, expected) => {
    expect(outcome(rules, type)).toEqual(expected);
  });
});

test("a mandate without a unit counts amounts as they are", () => {
  const { findings } = decide(
    mandateOf(),
    usageOf(),
    intentOf({ decimals: null, fee: { serviceFee: zero, buyerShare: zero } }),
    NOW,
  );
  expect(findings.slice(0, 4)).toEqual([1, 3, "USDC", "0.5"]);
});
