import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { BucketUsage, IntentFacts, MandateFacts, Usage } from "#lib/mandates/policy/facts.ts";
import { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { decide } from "#lib/mandates/policy/policy.ts";
import { addHold } from "#lib/mandates/usage.ts";
import { bucketAt } from "#lib/mandates/policy/windows.ts";
import { atomicOf, parseAmount, UNIT_DECIMALS, zero } from "#lib/money.ts";

/* Facts for tests of the policy: one payment of 0.50 USDC that the policy of policyOf() allows. */

export const NOW = new Date("2026-11-21T12:00:00.000Z");
export const CHAIN = "eip155:84532";
export const PAY_TO = "0x00000000000000000000000000000000000000aA";

export const usdc = (text: string) => parseAmount(text, 6);

type PolicyInput = Record<string, unknown> & { limits?: Record<string, unknown> };

/** A valid policy of 1 USDC per payment and 100 in total, plus the given rules. */
export function policyOf(rules: PolicyInput = {}): Policy {
  const { limits, ...rest } = rules;
  return Policy.parse({
    assets: [{ asset: "USDC", chain: CHAIN }],
    limits: { perPayment: "1", total: "100", ...limits },
    ...rest,
  });
}

export function mandateOf(rules: PolicyInput = {}, facts: Partial<MandateFacts> = {}): MandateFacts {
  return {
    mandateId: "mdt_test",
    status: "active",
    version: 3,
    policy: compilePolicy(policyOf(rules), "unit" in rules ? UNIT_DECIMALS : 6),
    agents: null,
    ...facts,
  };
}

export const usageOf = (usage: Partial<Usage> = {}): Usage => ({
  spent: zero,
  reserved: zero,
  lastHeldAt: null,
  buckets: new Map(),
  ...usage,
});

export function intentOf(facts: Partial<IntentFacts> = {}): IntentFacts {
  return {
    agent: { subjectId: "sa_one", type: "serviceAccount", active: true },
    seller: { sellerId: "sel_one", domain: "shop.example.com", verified: true },
    unregistered: null,
    resource: {
      sellerId: "sel_one",
      resourceId: "report",
      method: "GET",
      pathTemplate: "/reports/{id}",
      acceptedPaymentChallengeTypes: ["x402"],
    },
    mismatches: [],
    amount: usdc("0.50"),
    fee: { serviceFee: zero, buyerShare: zero },
    asset: "USDC",
    chain: CHAIN,
    decimals: 6,
    payTo: PAY_TO,
    paymentChallengeType: "x402",
    expiresAt: new Date(NOW.getTime() + 60_000),
    assuranceLevel: "softwareApproved",
    sellerPaidBefore: true,
    duplicateIntentId: false,
    duplicateNonce: false,
    ...facts,
  };
}

/**
 * Adds a reserved amount (hold) to the usage, as a decision does: to the lifetime total, to the current bucket of every window,
 * and to the time of the last hold.
 */
export function hold(mandate: MandateFacts, usage: Usage, amount: bigint, now: Date): void {
  const buckets = mandate.policy.windows.map((window) => bucketAt(window, now));
  addHold(usage, atomicOf(amount), buckets, now);
}

/** One row in a table of rules: what differs from an allowed payment, and the expected denial code, null for none. */
export type RuleRow = {
  readonly guarantee: string;
  readonly rules?: PolicyInput;
  readonly mandate?: Partial<MandateFacts>;
  readonly usage?: Usage;
  readonly intent?: Partial<IntentFacts>;
  readonly code: string | null;
};

export const decideRow = ({ rules, mandate, usage, intent }: RuleRow) =>
  decide(mandateOf(rules, mandate), usage ?? usageOf(), intentOf(intent), NOW);

export const seller = intentOf().seller!;
export const resource = intentOf().resource!;
export const at = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);

export const DAY = { period: "day", timezone: "UTC" };
export const dayBucket = (spent: string, payments: number): BucketUsage => ({
  start: new Date("2026-11-21T00:00:00Z"),
  liveUntil: new Date("2026-11-22T00:00:00Z"),
  spent: usdc(spent),
  reserved: zero,
  payments,
});
export const usedToday = (spent: string, payments = 1): Usage =>
  usageOf({ buckets: new Map([["day UTC", [dayBucket(spent, payments)]]]) });
