import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { IntentFacts } from "#lib/mandates/policy/facts.ts";
import { decide } from "#lib/mandates/policy/policy.ts";
import { widens, type Grant } from "#lib/mandates/lifecycle/widens.ts";
import { atomicOf } from "#lib/money.ts";
import { CHAIN, intentOf, mandateOf, NOW, PAY_TO, usageOf } from "#test/mandate-facts.ts";

type Rules = NonNullable<Parameters<typeof mandateOf>[0]>;
type Bound = Partial<Pick<Grant, "agents" | "wallet">>;

const granted = (rules: Rules, bound: Bound = {}): Grant => ({
  policy: mandateOf(rules).policy,
  agents: null,
  wallet: null,
  ...bound,
});
const limits = (more: Record<string, unknown>): Rules => ({ limits: more });
const day = { period: "day", timezone: "UTC" };
const week = { days: ["monday", "tuesday"], from: "09:00", to: "17:00", timezone: "UTC" };

/**
 * Pairs of a wider and a narrower set of rules. A change from the narrower to the wider one needs a proof of identity; the
 * reverse change needs none.
 */
const inUsd = (...rates: string[]): Rules => ({
  unit: "USD",
  assets: rates.map((counts, at) => ({ asset: ["USDC", "EURC", "DAI"][at], chain: CHAIN, counts })),
});
const records = (payees: unknown, deadline?: string): Rules => ({ rails: ["x402", "record"], records: { payees, deadline } });
const iban = { kind: "iban", value: "DE89 3704 0044 0532 0130 00" };

const steps: readonly (readonly [string, Rules, Rules])[] = [
  ["a higher payment", limits({ perPayment: "2" }), limits({ perPayment: "1" })],
  ["a higher total", limits({ total: "101" }), limits({ total: "100" })],
  ["a higher budget", limits({ budgets: [{ ...day, amount: "2" }] }), limits({ budgets: [{ ...day, amount: "1" }] })],
  ["no budget", limits({}), limits({ budgets: [{ ...day, amount: "1" }] })],
  ["more payments", limits({ counts: [{ ...day, max: 3 }] }), limits({ counts: [{ ...day, max: 2 }] })],
  ["a shorter cooldown", limits({ cooldownSeconds: 1 }), limits({ cooldownSeconds: 2 })],
  ["another seller", { sellers: { allow: ["a", "b"] } }, { sellers: { allow: ["a"] } }],
  ["every seller", { sellers: {} }, { sellers: { allow: ["a"] } }],
  ["a seller that was denied", {}, { sellers: { deny: ["a"] } }],
  ["unregistered sellers", { sellers: { unregistered: "allow" } }, {}],
  ["unverified sellers", {}, { requireVerifiedSeller: true }],
  ["another domain", { domains: { allow: ["a.com", "b.com"] } }, { domains: { allow: ["a.com"] } }],
  ["another payee", { payTo: { allow: [PAY_TO] } }, { payTo: { allow: [] } }],
  ["a payee that was denied", {}, { payTo: { deny: [PAY_TO] } }],
  ["every resource", {}, { resources: [{ sellerId: "a", resourceId: "r" }] }],
  ["another day", { schedule: week }, { schedule: { ...week, days: ["monday"] } }],
  ["a longer day", { schedule: week }, { schedule: { ...week, to: "16:00" } }],
  ["any time", {}, { schedule: week }],
  ["no question", {}, { approval: { mode: "always" } }],
  [
    "a question from a higher amount on",
    { approval: { mode: "above", amount: "2" } },
    { approval: { mode: "above", amount: "1" } },
  ],
  ["asking only above an amount", { approval: { mode: "above", amount: "1" } }, { approval: { mode: "always" } }],
  ["less assurance", {}, { minimumAssuranceLevel: "passkeyApproved" }],
  ["a higher fee", { maximumFee: { bps: 2 } }, { maximumFee: { bps: 1 } }],
  ["any fee", {}, { maximumFee: { amount: "1" } }],
  ["an earlier beginning", {}, { validFrom: "2026-01-01T00:00:00Z" }],
  ["an asset that counts as less", inUsd("1", "1.11"), inUsd("1", "1.12")],
  ["another asset", inUsd("1", "1.12"), inUsd("1")],
  ["another rail", { rails: ["x402", "record"] }, {}],
  ["records without a question", records("any"), { rails: ["x402", "record"] }],
  ["records to another account", records([iban, { sellerId: "a" }]), records([iban])],
  ["records to any account", records("any"), records([iban])],
  ["records that are due later", records("any", "P15D"), records("any")],
  ["a later end", {}, { validUntil: "2026-01-01T00:00:00Z" }],
];

describe("widens", () => {
  test.each(steps)("is true for %s, and false for the reverse", (_what, wide, narrow) => {
    expect(widens(granted(wide), granted(narrow))).toBe(true);
    expect(widens(granted(narrow), granted(wide))).toBe(false);
    expect(widens(granted(wide), granted(wide))).toBe(false);
  });

  test.each<readonly [string, Rules, Rules]>([
    ["another zone", { schedule: { ...week, timezone: "Europe/Berlin" } }, { schedule: week }],
    ["a fee limit of another kind", { maximumFee: { bps: 1 } }, { maximumFee: { amount: "1" } }],
    [
      "a seller whose domain needs no proof any more",
      { domains: { allow: ["a.com"] }, sellers: { allow: ["a"] } },
      { domains: { allow: ["a.com"] } },
    ],
    [
      "a question at the first payment for one above an amount",
      { approval: { mode: "firstPayment" } },
      { approval: { mode: "above", amount: "1" } },
    ],
  ])("is true for %s, which cannot be compared", (_what, after, before) => {
    expect(widens(granted(after), granted(before))).toBe(true);
  });

  test("is false for another spelling of the same account", () => {
    const other = { ...iban, value: "de89370400440532013000" };
    expect(widens(granted(records([other])), granted(records([iban])))).toBe(false);
  });

  test("is true for a mandate that asks about each record and asked about some payees alone", () => {
    expect(widens(granted({ rails: ["record"] }), granted({ ...records([iban]), rails: ["record"] }))).toBe(true);
  });

  test("is true for more agents and another wallet, and false for fewer agents", () => {
    const of = (agents: string[] | null) => granted({}, { agents });
    expect([widens(of(null), of(["a"])), widens(of(["a", "b"]), of(["a"])), widens(of(["a"]), of(null))]).toEqual([
      true,
      true,
      false,
    ]);
    const pays = (address: string | null) => granted({}, { wallet: address === null ? null : { chain: "eip155:1", address } });
    expect([widens(pays("0x1"), pays("0x2")), widens(pays(null), pays("0x2")), widens(pays("0x2"), pays("0x2"))]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

const strictness = { allow: 0, requireApproval: 1, deny: 2 };
/** Random rules other than limits, taken from both members of the pairs above. */
const rules = fc
  .subarray(steps.flatMap(([, wide, narrow]) => [wide, narrow]).filter((one) => !("limits" in one)))
  .map((list): Rules => Object.assign({ domains: { allow: ["example.com"] } }, ...list) as Rules);
const intents: fc.Arbitrary<Partial<IntentFacts>> = fc.record(
  {
    amount: fc.integer({ min: 1, max: 3_000_000 }).map((units) => atomicOf(BigInt(units))),
    payTo: fc.constantFrom(null, PAY_TO),
    seller: fc.constantFrom(null, intentOf().seller, { sellerId: "a", domain: "a.com", verified: false }),
    unregistered: fc.constantFrom(null, { domain: "a.com", lacks: [] }),
    sellerPaidBefore: fc.boolean(),
  },
  { requiredKeys: [] },
);

test("a change that does not widen allows no payment that was refused", () => {
  let compared = 0;
  fc.assert(
    fc.property(rules, rules, intents, (after, before, facts) => {
      if (widens(granted(after), granted(before))) return;
      compared += 1;
      const outcome = (one: Rules) => strictness[decide(mandateOf(one), usageOf(), intentOf(facts), NOW).outcome];
      expect(outcome(after)).toBeGreaterThanOrEqual(outcome(before));
    }),
    { numRuns: 2_000 },
  );
  expect(compared).toBeGreaterThan(20);
});
