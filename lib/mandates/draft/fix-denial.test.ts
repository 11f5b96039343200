import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { IntentFacts, MandateFacts, Usage } from "#lib/mandates/policy/facts.ts";
import { fixDenial, withChange, type Change, type Terms } from "#lib/mandates/draft/fix-denial.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { decide } from "#lib/mandates/policy/policy.ts";
import { bucketAt, windowsOf } from "#lib/mandates/policy/windows.ts";
import { atomicOf, formatAmount, parseAmount, zero } from "#lib/money.ts";
import { intentOf, mandateOf, NOW, PAY_TO, policyOf, usageOf, usdc } from "#test/mandate-facts.ts";

const DECIMALS = 6;

const under = ({ policy, agents }: Terms): MandateFacts => ({ ...mandateOf(), policy: compilePolicy(policy, DECIMALS), agents });
const decided = (terms: Terms, usage: Usage, intent: IntentFacts) => decide(under(terms), usage, intent, NOW);
const fixOf = (terms: Terms, usage: Usage, intent: IntentFacts) =>
  fixDenial({ terms, decimals: DECIMALS, intent, reasons: decided(terms, usage, intent).reasons, now: NOW });

/** The change with a value that is one unit smaller; null for an entry of a list, which has no smaller value. */
function oneLess(change: Change): Change | null {
  const less = (text: string) => formatAmount(atomicOf(parseAmount(text, DECIMALS) - 1n), DECIMALS);
  if ("amount" in change) return { ...change, amount: less(change.amount) };
  if ("max" in change) return { ...change, max: change.max - 1 };
  return "bps" in change ? { ...change, bps: change.bps - 1 } : null;
}

const amount = (most: number) => fc.integer({ min: 1, max: most }).map((cents) => (cents / 100).toFixed(2));
const zone = { timezone: "UTC" } as const;
const policies = fc
  .record({
    perPayment: amount(300),
    total: fc.option(amount(3_000), { nil: undefined }),
    day: amount(900),
    month: fc.option(amount(2_000), { nil: undefined }),
    rolling: fc.option(amount(900), { nil: undefined }),
    max: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    fee: fc.option(
      fc.oneof(
        amount(20).map((text) => ({ amount: text })),
        fc.integer({ min: 0, max: 400 }).map((bps) => ({ bps })),
      ),
      { nil: undefined },
    ),
  })
  .map(({ perPayment, total, day, month, rolling, max, fee }): Policy => {
    const budgets = [
      { period: "day" as const, ...zone, amount: day },
      ...(month === undefined ? [] : [{ period: "month" as const, ...zone, amount: month }]),
      ...(rolling === undefined ? [] : [{ rolling: "PT1H", amount: rolling }]),
    ];
    const counts = max === undefined ? [] : [{ period: "day" as const, ...zone, max }];
    return policyOf({ limits: { perPayment, total, budgets, counts }, ...(fee && { maximumFee: fee }) });
  });

/** Returns a usage in which every window has had these payments, given in cents. */
function usedBy(policy: Policy, payments: readonly number[]): Usage {
  const buckets: Usage["buckets"] = new Map();
  const spent = atomicOf(payments.reduce((sum, cents) => sum + BigInt(cents) * 10_000n, 0n));
  for (const window of windowsOf(policy, DECIMALS))
    buckets.set(window.key, [{ ...bucketAt(window, NOW), spent, reserved: zero, payments: payments.length }]);
  return usageOf({ spent, buckets });
}

const requests = fc
  .record({ cents: fc.integer({ min: 1, max: 900 }), fee: fc.integer({ min: 0, max: 30 }) })
  .map(({ cents, fee }) => {
    const share = atomicOf(BigInt(fee) * 10_000n);
    return intentOf({ amount: atomicOf(BigInt(cents) * 10_000n), fee: { serviceFee: share, buyerShare: share } });
  });
const payments = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 6 });

describe("fixDenial, always", () => {
  test("the new values admit the request, and each value one unit below does not", () => {
    let fixes = 0;
    fc.assert(
      fc.property(policies, payments, requests, (policy, past, intent) => {
        const terms = { policy, agents: null };
        const usage = usedBy(policy, past);
        const fix = fixOf(terms, usage, intent);
        if (fix === null) return;
        fixes += 1;
        expect(decided(fix, usage, intent).outcome).toBe("allow");
        for (const change of fix.changes) {
          const less = oneLess(change);
          expect(less).not.toBeNull();
          expect(decided(withChange(fix, less!), usage, intent).outcome).toBe("deny");
        }
      }),
      { numRuns: 500 },
    );
    expect(fixes).toBeGreaterThan(100);
  });

  test("an allowed request needs no fix, and nothing else in the policy changes", () => {
    fc.assert(
      fc.property(policies, payments, requests, (policy, past, intent) => {
        const terms = { policy, agents: null };
        const usage = usedBy(policy, past);
        const fix = fixOf(terms, usage, intent);
        if (decided(terms, usage, intent).outcome !== "deny") expect(fix).toBeNull();
        if (fix === null) return;
        const { limits, maximumFee, ...rest } = fix.policy;
        expect({ ...rest, limits: policy.limits, maximumFee: policy.maximumFee }).toEqual({
          ...policy,
          maximumFee: policy.maximumFee,
        });
        const changed = new Set(fix.changes.map(({ of }) => of));
        if (!changed.has("perPayment")) expect(limits.perPayment).toBe(policy.limits.perPayment);
        if (!changed.has("total")) expect(limits.total).toBe(policy.limits.total);
        if (!changed.has("fee") && !changed.has("feeShare")) expect(maximumFee).toEqual(policy.maximumFee);
      }),
    );
  });
});

const changesUnder = (
  rules: Record<string, unknown>,
  facts: Partial<IntentFacts> = {},
  agents: readonly string[] | null = null,
) => fixOf({ policy: policyOf(rules), agents }, usageOf(), intentOf(facts))?.changes ?? null;

describe("fixDenial", () => {
  const other = ["0x00000000000000000000000000000000000000bb"];
  test.each<[string, Record<string, unknown>, object[]]>([
    ["the seller", { sellers: { allow: ["sel_two"] } }, [{ of: "seller", entry: "sel_one" }]],
    ["the address", { payTo: { allow: other } }, [{ of: "payTo", entry: PAY_TO }]],
    ["the domain", { domains: { allow: ["example.org"] } }, [{ of: "domain", entry: "shop.example.com" }]],
    ["the resource", { resources: [] }, [{ of: "resource", sellerId: "sel_one", resourceId: "report" }]],
    [
      "the seller and the limit",
      { sellers: { allow: [] }, limits: { perPayment: "0.1" } },
      [
        { of: "seller", entry: "sel_one" },
        { of: "perPayment", amount: "0.5" },
      ],
    ],
  ] satisfies [string, Record<string, unknown>, unknown[]][])(
    "adds %s of a verified seller, which admits the request",
    (_, rules, changes) => {
      expect(changesUnder(rules)).toEqual(expect.arrayContaining(changes));
      expect(changesUnder(rules)).toHaveLength(changes.length);
      const terms = { policy: policyOf(rules), agents: null };
      expect(decided(fixOf(terms, usageOf(), intentOf())!, usageOf(), intentOf()).outcome).toBe("allow");
    },
  );

  test("adds the agent to those that may use the mandate", () => {
    expect(changesUnder({}, {}, ["sa_two"])).toEqual([{ of: "agent", subjectId: "sa_one" }]);
    const person = { agent: { subjectId: "usr_one", type: "user", active: true } } as const;
    expect(changesUnder({}, person, ["sa_two"])).toBeNull();
  });

  const unverified = { seller: { ...intentOf().seller!, verified: false } };
  const claimed = { seller: null, resource: null, unregistered: { domain: "api.example.net", lacks: [] } };
  test.each([
    ["a stop", {}, { payeeStop: "stopped" }],
    ["the look-alike of a stopped seller", {}, { payeeStop: "unproven" }],
    ["a forbidden seller", { sellers: { deny: ["sel_one"] } }, {}],
    ["a forbidden domain", { domains: { deny: ["example.com"] } }, {}],
    ["a forbidden address", { payTo: { deny: [PAY_TO] } }, {}],
    ["a changed challenge", {}, { mismatches: [{ field: "amount", pointer: "/intent/amount" }] }],
    ["a seller that is not verified", { sellers: { allow: [] } }, unverified],
    ["a demand for a verified seller", { requireVerifiedSeller: true }, unverified],
    ["a domain that is not proven", { domains: { allow: ["shop.example.com"] } }, unverified],
    ["an unregistered seller", {}, claimed],
    ["a domain that an unregistered seller claims", { sellers: { unregistered: "allow" }, domains: { allow: [] } }, claimed],
    ["another asset", {}, { asset: "EURC" }],
    ["a nonce that was used", {}, { duplicateNonce: true }],
    ["a person's refusal", {}, { rejectedByPerson: true }],
  ] as const)("offers no fix for %s, even if a limit denies the payment too", (_, rules, facts) => {
    expect(changesUnder(rules, facts)).toBeNull();
    expect(changesUnder({ ...rules, limits: { perPayment: "0.1" } }, facts)).toBeNull();
  });

  test("offers no fix if the raised limit would contradict another limit", () => {
    const budgets = [
      { period: "day", timezone: "UTC", amount: "1" },
      { period: "week", timezone: "UTC", amount: "1" },
    ];
    const rules = { limits: { perPayment: "1", total: undefined, budgets } };
    const policy = policyOf(rules);
    const [day] = windowsOf(policy, DECIMALS);
    const usage = usageOf({
      buckets: new Map([[day!.key, [{ ...bucketAt(day!, NOW), spent: usdc("1"), reserved: zero, payments: 1 }]]]),
    });
    expect(fixOf({ policy, agents: null }, usage, intentOf())).toBeNull();
  });
});

test.each([
  [
    "a day that is missing",
    { days: ["monday"], from: "08:00", to: "18:00" },
    { days: ["monday", "saturday"], from: "08:00", to: "18:00" },
  ],
  [
    "a beginning that is too late",
    { days: ["saturday"], from: "13:30", to: "18:00" },
    { days: ["saturday"], from: "12:00", to: "18:00" },
  ],
  [
    "an end that is too early",
    { days: ["saturday"], from: "08:00", to: "11:00" },
    { days: ["saturday"], from: "08:00", to: "14:00" },
  ],
] as const)("a denial by the schedule is mended by %s", (_, was, will) => {
  const schedule = { ...was, days: [...was.days], ...zone };
  const terms = { policy: policyOf({ schedule }), agents: null };
  const fix = fixOf(terms, usageOf(), intentOf());
  expect(fix?.changes).toEqual([{ of: "schedule", schedule: { ...will, days: [...will.days], ...zone } }]);
  expect(fix && decided(fix, usageOf(), intentOf()).outcome).toBe("allow");
});
