import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calendarPeriodAt } from "#lib/mandates/policy/calendar.ts";
import { checkPolicy } from "#lib/mandates/policy/check-policy.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import { Policy } from "#lib/mandates/policy/policy-schema.ts";
import type { Window } from "#lib/mandates/policy/windows.ts";
import { admitsPayee, deriveTerms, onChainIdOf, type RegistrationTerms } from "#lib/onchain/registry/registration-terms.ts";

const DECIMALS = 6;
const WRITTEN = new Date("2026-11-21T12:00:00.400Z");
const START = 1_795_262_400;
const DAY = 86_400;
const account = `0x${"a1".repeat(20)}` as const;
const payee = `0x${"b2".repeat(20)}` as const;
const token = `0x${"c3".repeat(20)}` as const;

const policyOf = (limits: Record<string, unknown>, rest: Record<string, unknown> = {}): Policy =>
  Policy.parse({ assets: [{ asset: "USDC", chain: "eip155:84532" }], limits, ...rest });

const derive = (policy: Policy) =>
  deriveTerms({ policy, writtenAt: WRITTEN, decimals: DECIMALS, account, payee, token, path: "proofs" });

function termsOf(policy: Policy): RegistrationTerms {
  const derived = derive(policy);
  if (!derived.ok) throw new Error(derived.detail);
  return derived.terms;
}

const day = (amount: string) => ({ period: "day", timezone: "UTC", amount });

describe("the limits for the chain that are derived from a policy", () => {
  test("are the limits of the policy; the period is as long as the budget's window", () => {
    const policy = policyOf({ perPayment: "1", budgets: [day("5")] });
    expect(termsOf(policy)).toEqual({
      account,
      payee,
      token,
      perPaymentLimit: 1_000_000n,
      periodLimit: 5_000_000n,
      periodSeconds: DAY,
      start: START,
      end: START + 365 * DAY,
      maxPaymentsPerPeriod: 5,
      enforcementPath: 1,
      termsHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
  });

  test.each([
    ["week", { period: "week", timezone: "Europe/Berlin" }, 7 * DAY],
    ["month", { period: "month", timezone: "UTC" }, 31 * DAY],
    ["year", { period: "year", timezone: "UTC" }, 366 * DAY],
    ["rolling", { rolling: "PT90M" }, 5_400],
  ])("have a period that is as long as the longest possible %s window", (_, span, seconds) => {
    expect(termsOf(policyOf({ perPayment: "1", budgets: [{ ...span, amount: "5" }] }))).toMatchObject({ periodSeconds: seconds });
  });

  test("take the budget that allows the least over a long time", () => {
    const policy = policyOf({ perPayment: "1", budgets: [day("5"), { period: "month", timezone: "UTC", amount: "60" }] });
    expect(termsOf(policy)).toMatchObject({ periodLimit: 60_000_000n, periodSeconds: 31 * DAY });
  });

  test("are one period from start to end if there is only a total", () => {
    const policy = policyOf({ perPayment: "1", total: "20" }, { validUntil: "2026-12-01T00:00:00.000Z" });
    const end = Date.parse("2026-12-01T00:00:00Z") / 1_000;
    expect(termsOf(policy)).toMatchObject({ periodLimit: 20_000_000n, periodSeconds: end - START, start: START, end });
  });

  test("end when a budget could have used up the total", () => {
    const policy = policyOf({ perPayment: "1", total: "12", budgets: [day("5")] });
    expect(termsOf(policy)).toMatchObject({ periodLimit: 5_000_000n, periodSeconds: DAY, end: START + 2 * DAY });
  });

  test("limit the payments of a period by the policy's counts", () => {
    const counts = (list: unknown[]) =>
      termsOf(policyOf({ perPayment: "1", budgets: [day("5")], counts: list })).maxPaymentsPerPeriod;
    expect(counts([{ period: "day", timezone: "UTC", max: 3 }])).toBe(3);
    expect(counts([{ rolling: "PT12H", max: 2 }])).toBe(4);
    expect(counts([{ period: "month", timezone: "UTC", max: 2 }])).toBe(2);
  });

  test("round the validity inwards to whole seconds", () => {
    const limits = { perPayment: "1", budgets: [day("5")] };
    const times = { validFrom: "2026-12-01T00:00:00.001Z", validUntil: "2026-12-02T00:00:00.999Z" };
    const from = Date.parse("2026-12-01T00:00:00Z") / 1_000;
    expect(termsOf(policyOf(limits, times))).toMatchObject({ start: from + 1, end: from + DAY });
  });

  test.each([
    ["uint128", { perPayment: "1", budgets: [day("400000000000000000000000000000000")] }, {}],
    ["4,294,967,295 payments", { perPayment: "0.000001", budgets: [day("5000")] }, {}],
    ["zero", { perPayment: "0", budgets: [day("5")] }, {}],
    ["ends before", { perPayment: "1", budgets: [day("5")] }, { validUntil: "2026-11-21T12:00:00.900Z" }],
  ])("refuse by name what the registry cannot store: %s", (name, limits, rest) => {
    expect(derive(policyOf(limits, rest))).toEqual({ ok: false, detail: expect.stringContaining(name) as unknown });
  });

  test("have the id that the mandate's version has in the registry", () => {
    expect(onChainIdOf("mdt_1", 1)).not.toBe(onChainIdOf("mdt_1", 2));
    expect(onChainIdOf("mdt_1", 1)).toBe("0xdceb52fcf476e964f7b004b93b0fca1f179c2d2c935f12da9ae6e51c90fc8595");
  });

  test("have a payee that the policy allows", () => {
    const admits = (payTo?: Record<string, unknown>) =>
      admitsPayee(policyOf({ perPayment: "1", budgets: [day("5")] }, payTo && { payTo }), DECIMALS, payee);
    expect(admits()).toBe(true);
    expect(admits({ allow: [`0x${"B2".repeat(20)}`] })).toBe(true);
    expect(admits({ allow: [] })).toBe(false);
    expect(admits({ allow: [account] })).toBe(false);
    expect(admits({ deny: [payee] })).toBe(false);
  });
});

const cents = (count: number) => (count / 100).toFixed(2);
const spans = fc.oneof(
  fc.record({ period: fc.constantFrom("day", "week", "month", "year"), timezone: fc.constantFrom("UTC") }),
  fc.record({ rolling: fc.constantFrom("PT1H", "PT24H", "P7D", "PT90M", "P28D") }),
);
const policies = fc
  .record({
    limits: fc.record(
      {
        perPayment: fc.integer({ min: 1, max: 500 }).map(cents),
        total: fc.integer({ min: 1, max: 9_000 }).map(cents),
        budgets: fc
          .array(fc.tuple(spans, fc.integer({ min: 1, max: 2_000 })), { maxLength: 3 })
          .map((list) => list.map(([span, amount]) => ({ ...span, amount: cents(amount) }))),
        counts: fc
          .array(fc.tuple(spans, fc.integer({ min: 1, max: 8 })), { maxLength: 2 })
          .map((list) => list.map(([span, max]) => ({ ...span, max }))),
      },
      { requiredKeys: ["perPayment"] },
    ),
    validFrom: fc.constantFrom(undefined, "2026-12-01T00:00:00.001Z"),
    validUntil: fc.constantFrom(undefined, "2027-03-01T12:30:00.500Z"),
  })
  .map(({ limits, ...times }) => policyOf(limits, times))
  .filter((policy) => checkPolicy(policy, { decimals: DECIMALS }).length === 0);

/** The least number of windows of this kind that cover a span from `from` to `to`, in milliseconds. */
function windowsIn(window: Window, from: number, to: number): number {
  if (window.kind === "rolling") return Math.ceil((to - from) / window.spanMs);
  let count = 0;
  for (let at = from; at < to; count += 1) at = calendarPeriodAt(window.period, window.timezone, new Date(at)).end.getTime();
  return count;
}

describe("the limits for the chain, compared with the policy", () => {
  const assertAlways = (holds: (terms: RegistrationTerms, policy: ReturnType<typeof compilePolicy>) => void) =>
    fc.assert(
      fc.property(policies, (policy) => holds(termsOf(policy), compilePolicy(policy, DECIMALS))),
      { numRuns: 120 },
    );

  test("the registry accepts the limits", () => {
    assertAlways((terms) => {
      const { perPaymentLimit, periodLimit, maxPaymentsPerPeriod, periodSeconds, start, end } = terms;
      expect(perPaymentLimit > 0n && periodSeconds > 0 && maxPaymentsPerPeriod > 0 && start < end).toBe(true);
      expect(BigInt(maxPaymentsPerPeriod) * perPaymentLimit <= periodLimit).toBe(true);
    });
  });

  test("they allow no payment above its limit, nothing outside its time, and never more than the total", () => {
    assertAlways((terms, policy) => {
      const { perPaymentLimit, periodLimit, periodSeconds, start, end } = terms;
      expect(perPaymentLimit <= policy.perPayment).toBe(true);
      if (policy.validFrom) expect(start * 1_000).toBeGreaterThanOrEqual(policy.validFrom.getTime());
      if (policy.validUntil) expect(end * 1_000).toBeLessThanOrEqual(policy.validUntil.getTime());
      const periods = BigInt(Math.ceil((end - start) / periodSeconds));
      if (policy.total !== null) expect(periods * periodLimit <= policy.total).toBe(true);
    });
  });

  test("they allow, in any span of time, at most one budget more than the windows of the chosen budget", () => {
    fc.assert(
      fc.property(policies, fc.nat(400 * DAY), fc.integer({ min: 1, max: 400 * DAY }), (written, offset, length) => {
        const terms = termsOf(written);
        const policy = compilePolicy(written, DECIMALS);
        const from = terms.start + offset;
        const periods = Math.floor((offset + length - 1) / terms.periodSeconds) - Math.floor(offset / terms.periodSeconds) + 1;
        const budgets = policy.windows.filter((window) => window.limit !== undefined);
        const allowed = budgets.map((window) => window.limit! * BigInt(windowsIn(window, from * 1_000, (from + length) * 1_000)));
        const most = terms.periodLimit * BigInt(periods - 1);
        if (budgets.length > 0) expect(allowed.some((amount) => most <= amount)).toBe(true);
      }),
      { numRuns: 120 },
    );
  });

  test("they allow, over a long time, no higher rate than any budget", () => {
    assertAlways(({ periodLimit, periodSeconds }, policy) => {
      const longest = { day: DAY, week: 7 * DAY, month: 31 * DAY, year: 366 * DAY };
      for (const window of policy.windows) {
        if (window.limit === undefined) continue;
        const seconds = window.kind === "calendar" ? longest[window.period] : window.spanMs / 1_000;
        expect(periodLimit * BigInt(seconds) <= window.limit * BigInt(periodSeconds)).toBe(true);
      }
    });
  });

  test("they allow no more payments in a period than each count does in the same time", () => {
    assertAlways(({ maxPaymentsPerPeriod, periodSeconds }, policy) => {
      for (const window of policy.windows) {
        if (window.max === undefined) continue;
        const windows = windowsIn(window, 0, periodSeconds * 1_000);
        expect(maxPaymentsPerPeriod).toBeLessThanOrEqual(window.max * windows);
      }
    });
  });
});
