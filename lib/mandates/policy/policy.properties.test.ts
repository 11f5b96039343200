import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { IntentFacts } from "#lib/mandates/policy/facts.ts";
import { decide, mayAsk, mayWaive } from "#lib/mandates/policy/policy.ts";
import { usesWaiver } from "#lib/mandates/policy/waive.ts";
import { bucketAt } from "#lib/mandates/policy/windows.ts";
import { atomicOf, zero } from "#lib/money.ts";
import { DenialCode } from "#lib/vocabulary.ts";
import { hold, intentOf, mandateOf, NOW, PAY_TO, usageOf, usdc } from "#test/mandate-facts.ts";

const cents = (count: number) => (count / 100).toFixed(2);
const zones = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu");
const periods = fc.constantFrom("day", "week", "month", "year");
const spans = fc.oneof(
  fc.record({ period: periods, timezone: zones }),
  fc.record({ rolling: fc.constantFrom("PT1M", "PT1H", "PT24H", "P7D", "PT90M") }),
);
const limits = fc.record({
  perPayment: fc.integer({ min: 1, max: 500 }).map(cents),
  total: fc.integer({ min: 1, max: 5_000 }).map(cents),
  budgets: fc
    .array(fc.tuple(spans, fc.integer({ min: 1, max: 2_000 })), { maxLength: 3 })
    .map((list) => list.map(([span, amount]) => ({ ...span, amount: cents(amount) }))),
  counts: fc
    .array(fc.tuple(spans, fc.integer({ min: 1, max: 8 })), { maxLength: 2 })
    .map((list) => list.map(([span, max]) => ({ ...span, max }))),
});
const payment = fc.record({
  cents: fc.integer({ min: 1, max: 600 }),
  feeCents: fc.integer({ min: 0, max: 20 }),
  afterMs: fc.integer({ min: 0, max: 86_400_000 }),
});

const intents: fc.Arbitrary<Partial<IntentFacts>> = fc.record(
  {
    amount: fc.integer({ min: 1, max: 2_000_000 }).map((units) => atomicOf(BigInt(units))),
    asset: fc.constantFrom("USDC", "EURC"),
    payTo: fc.constantFrom(null, PAY_TO),
    seller: fc.constantFrom(null, intentOf().seller),
    unregistered: fc.constantFrom(null, { domain: "api.example.net", lacks: [] }, { domain: null, lacks: [] }),
    resource: fc.constantFrom(null, intentOf().resource),
    duplicateNonce: fc.boolean(),
    sellerPaidBefore: fc.boolean(),
    expiresAt: fc.constantFrom(NOW, new Date(NOW.getTime() + 1)),
  },
  { requiredKeys: [] },
);

/** Rules that, added to a policy, make it stricter or change nothing. */
const tighter: Record<string, unknown>[] = [
  { sellers: { allow: ["sel_two"] } },
  { sellers: { deny: ["sel_one"] } },
  { domains: { allow: ["example.org"] } },
  { domains: { deny: ["com"] } },
  { payTo: { allow: [] } },
  { resources: [] },
  { minimumAssuranceLevel: "passkeyApproved" },
  { requireVerifiedSeller: true },
  { maximumFee: { bps: 0 } },
  { validUntil: NOW.toISOString() },
  { schedule: { days: ["sunday"], from: "00:00", to: "24:00", timezone: "UTC" } },
  { approval: { mode: "always" } },
];
const strictness = { allow: 0, requireApproval: 1, deny: 2 };

describe("decide, always", () => {
  test("never allows more than any limit, with any split of payments over time", () => {
    fc.assert(
      fc.property(limits, fc.array(payment, { maxLength: 60 }), (rules, payments) => {
        const mandate = mandateOf({ limits: rules });
        const usage = usageOf();
        const allowed: { at: number; amount: bigint }[] = [];
        let at = NOW.getTime();
        for (const { cents: amount, feeCents, afterMs } of payments) {
          at += afterMs;
          const now = new Date(at);
          const share = atomicOf(BigInt(feeCents) * 10_000n);
          const intent = intentOf({
            amount: atomicOf(BigInt(amount) * 10_000n),
            fee: { serviceFee: share, buyerShare: share },
            expiresAt: new Date(at + 1),
          });
          if (decide(mandate, usage, intent, now).outcome === "deny") continue;
          hold(mandate, usage, intent.amount + share, now);
          allowed.push({ at, amount: intent.amount + share });
        }
        expect(allowed.reduce((sum, { amount }) => sum + amount, 0n) <= usdc(rules.total)).toBe(true);
        for (const { amount } of allowed) expect(amount <= usdc(rules.perPayment)).toBe(true);
        for (const window of mandate.policy.windows) {
          for (const last of allowed) {
            const start =
              window.kind === "rolling" ? last.at - window.spanMs + 1 : bucketAt(window, new Date(last.at)).start.getTime();
            const inside = allowed.filter((one) => one.at >= start && one.at <= last.at);
            if (window.limit !== undefined)
              expect(inside.reduce((sum, { amount }) => sum + amount, 0n) <= window.limit).toBe(true);
            if (window.max !== undefined) expect(inside.length).toBeLessThanOrEqual(window.max);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test("a tighter policy never turns a deny into an allow", () => {
    fc.assert(
      fc.property(intents, fc.subarray(tighter), fc.constantFrom(...tighter), (facts, rules, extra) => {
        const base = Object.assign({}, ...rules.filter((rule) => Object.keys(rule)[0] !== Object.keys(extra)[0])) as Record<
          string,
          unknown
        >;
        const before = decide(mandateOf(base), usageOf(), intentOf(facts), NOW);
        const after = decide(mandateOf({ ...base, ...extra }), usageOf(), intentOf(facts), NOW);
        expect(strictness[after.outcome]).toBeGreaterThanOrEqual(strictness[before.outcome]);
      }),
    );
  });

  test("a lower limit or more usage never turns a deny into an allow", () => {
    const units = fc.bigInt({ min: 0n, max: 2_000_000n });
    fc.assert(
      fc.property(units, units, units, units, (amount, spent, more, less) => {
        const outcome = (limit: bigint, used: bigint) => {
          const total = (2_000_000n + limit).toString().padStart(7, "0");
          const mandate = mandateOf({ limits: { perPayment: "2", total: `${total.slice(0, -6)}.${total.slice(-6)}` } });
          return strictness[
            decide(mandate, usageOf({ spent: atomicOf(used) }), intentOf({ amount: atomicOf(amount) }), NOW).outcome
          ];
        };
        const lower = less < more ? less : more;
        const higher = less < more ? more : less;
        expect(outcome(lower, spent)).toBeGreaterThanOrEqual(outcome(higher, spent));
        expect(outcome(lower, spent + more)).toBeGreaterThanOrEqual(outcome(lower, spent));
      }),
    );
  });

  test("asks a person only about a payment of which mayAsk said so before, also with other usage and a waiver", () => {
    fc.assert(
      fc.property(
        intents,
        fc.subarray([...tighter, { approval: { mode: "above", amount: "1" } }]),
        fc.boolean(),
        (facts, rules, waived) => {
          const [mandate, intent] = [mandateOf(Object.assign({}, ...rules)), intentOf(facts)];
          const said = mayAsk(mandate, usageOf({ spent: usdc("1") }), intent, NOW);
          const { outcome } = decide(mandate, usageOf(), { ...intent, waived, rejectedByPerson: false }, NOW);
          expect(said || outcome !== "requireApproval").toBe(true);
          if (mandate.policy.approval.mode === "never" && mandate.policy.minimumAssuranceLevel === null) expect(said).toBe(false);
        },
      ),
    );
  });

  test("lets a payment through by a waiver only if mayWaive said so before, also with other usage", () => {
    let used = 0;
    fc.assert(
      fc.property(intents, fc.subarray(tighter), fc.constantFrom("0.50", "5"), (facts, rules, perPayment) => {
        const mandate = mandateOf(Object.assign({ limits: { perPayment } }, ...rules));
        const intent = intentOf(facts);
        const said = mayWaive(mandate, usageOf({ spent: usdc("1") }), intent, NOW);
        const waives = usesWaiver(decide(mandate, usageOf(), { ...intent, waived: true }, NOW));
        expect(said || !waives).toBe(true);
        if (waives) used += 1;
      }),
      { numRuns: 500 },
    );
    expect(used).toBeGreaterThan(0);
  });

  test("gives complete reasons: denials first by precedence, each with the version, and an outcome that follows from them", () => {
    fc.assert(
      fc.property(intents, fc.subarray(tighter), (facts, rules) => {
        const { outcome, denialCode, reasons } = decide(mandateOf(Object.assign({}, ...rules)), usageOf(), intentOf(facts), NOW);
        const denials = reasons.filter(({ effect }) => effect === "deny");
        expect(reasons.slice(0, denials.length)).toEqual(denials);
        const ranks = denials.map(({ code }) => DenialCode.options.indexOf(code as DenialCode));
        expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
        expect(denials[0]?.code).toBe(denialCode);
        expect(outcome === "deny").toBe(denials.length > 0);
        expect(outcome === "requireApproval").toBe(reasons.some(({ effect }) => effect === "approval"));
        for (const reason of reasons) {
          expect(reason.policyVersion).toBe(3);
          expect(reason.message).toMatch(/^.+\.$/);
        }
      }),
    );
  });

  test("gives the same decision for the same facts, and changes nothing", () => {
    fc.assert(
      fc.property(intents, fc.subarray(tighter), (facts, rules) => {
        const mandate = mandateOf(Object.assign({}, ...rules));
        const usage = Object.freeze(usageOf());
        const intent = Object.freeze(intentOf(facts));
        expect(decide(mandate, usage, intent, NOW)).toEqual(decide(mandate, usage, intent, NOW));
      }),
    );
  });

  test("the order of a policy's lists does not matter", () => {
    const rules = fc.record({
      allow: fc.shuffledSubarray(["sel_one", "sel_two", "sel_three"]),
      deny: fc.shuffledSubarray(["sel_one", "sel_two"]),
    });
    fc.assert(
      fc.property(rules, intents, ({ allow, deny }, facts) => {
        const one = decide(mandateOf({ sellers: { allow, deny } }), usageOf(), intentOf(facts), NOW);
        const other = decide(
          mandateOf({ sellers: { allow: [...allow].reverse(), deny: [...deny].reverse() } }),
          usageOf(),
          intentOf(facts),
          NOW,
        );
        expect(one).toEqual(other);
      }),
    );
  });

  test("splitting a payment does not evade a budget, a count or a cooldown", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 40 }), (parts) => {
        const mandate = mandateOf({
          limits: { budgets: [{ rolling: "PT24H", amount: "1" }], counts: [{ period: "day", timezone: "UTC", max: 10 }] },
        });
        const usage = usageOf();
        const part = atomicOf(2_000_000n / BigInt(parts) + 1n);
        let paid: bigint = zero;
        for (let index = 0; index < parts; index++) {
          if (decide(mandate, usage, intentOf({ amount: part }), NOW).outcome !== "allow") continue;
          hold(mandate, usage, part, NOW);
          paid += part;
        }
        expect(paid <= usdc("1")).toBe(true);
      }),
    );
    const cooling = mandateOf({ limits: { cooldownSeconds: 1 } });
    expect(decide(cooling, usageOf({ lastHeldAt: NOW }), intentOf(), NOW).denialCode).toBe("cooldown_active");
  });

  test("a cooldown does not last for ever because a payment was held while the clock ran ahead", () => {
    const cooling = mandateOf({ limits: { cooldownSeconds: 60 } });
    const after = (seconds: number) => usageOf({ lastHeldAt: new Date(NOW.getTime() + seconds * 1_000) });
    const outcomes = [59, 7_200].map((seconds) => decide(cooling, after(seconds), intentOf(), NOW).outcome);
    expect(outcomes).toEqual(["deny", "allow"]);
  });
});
