import { describe, expect, test } from "vitest";
import { atomicOf, zero } from "#lib/money.ts";
import { intentOf, mandateOf, NOW, PAY_TO, usageOf, usdc } from "#test/mandate-facts.ts";
import type { IntentFacts, MandateFacts, Usage } from "./facts.ts";
import { decide } from "./policy.ts";

const seller = intentOf().seller!;
const resource = intentOf().resource!;
const DAY = { period: "day", timezone: "UTC" };
const dayBucket = (spent: string, payments: number) => ({
  start: new Date("2026-11-21T00:00:00Z"),
  liveUntil: new Date("2026-11-22T00:00:00Z"),
  spent: usdc(spent),
  reserved: zero,
  payments,
});
const usedToday = (spent: string, payments = 1): Usage =>
  usageOf({ buckets: new Map([["day UTC", [dayBucket(spent, payments)]]]) });
const at = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);

type Row = {
  guarantee: string;
  rules?: Parameters<typeof mandateOf>[0];
  mandate?: Partial<MandateFacts>;
  usage?: Usage;
  intent?: Partial<IntentFacts>;
  code: string | null;
};

const rows: Row[] = [
  { guarantee: "allows a payment that breaks no rule", code: null },
  { guarantee: "an emergency stops the mandate", mandate: { stoppedByEmergency: true }, code: "emergency_stop" },
  { guarantee: "an emergency stops the seller", intent: { seller: { ...seller, status: "stopped" } }, code: "emergency_stop" },
  {
    guarantee: "an emergency goes before a revocation",
    mandate: { stoppedByEmergency: true, status: "revoked" },
    code: "emergency_stop",
  },
  {
    guarantee: "a used up mandate goes before an agent that is not bound",
    mandate: { agents: [] },
    usage: usageOf({ spent: usdc("100") }),
    code: "mandate_exhausted",
  },
  { guarantee: "a draft pays nothing", mandate: { status: "draft" }, code: "mandate_not_active" },
  { guarantee: "a suspended mandate pays nothing", mandate: { status: "suspended" }, code: "mandate_suspended" },
  { guarantee: "a revoked mandate pays nothing", mandate: { status: "revoked" }, code: "mandate_revoked" },
  { guarantee: "validFrom is inclusive", rules: { validFrom: NOW.toISOString() }, code: null },
  { guarantee: "before validFrom nothing is paid", rules: { validFrom: at(1).toISOString() }, code: "mandate_not_yet_valid" },
  { guarantee: "validUntil is exclusive", rules: { validUntil: NOW.toISOString() }, code: "mandate_expired" },
  { guarantee: "just before validUntil is in time", rules: { validUntil: at(1).toISOString() }, code: null },
  {
    guarantee: "a used up total is exhausted",
    usage: usageOf({ spent: usdc("60"), reserved: usdc("40") }),
    code: "mandate_exhausted",
  },
  { guarantee: "an overrun leaves nothing", usage: usageOf({ spent: usdc("101") }), code: "mandate_exhausted" },
  { guarantee: "listed agents may pay", mandate: { agents: ["sa_two", "sa_one"] }, code: null },
  { guarantee: "an agent that is not listed is not bound", mandate: { agents: ["sa_two"] }, code: "agent_not_bound" },
  { guarantee: "an empty list of agents binds no one", mandate: { agents: [] }, code: "agent_not_bound" },
  {
    guarantee: "with agents set, a session is none of them",
    mandate: { agents: ["usr_one"] },
    intent: { agent: { subjectId: "usr_one", type: "user", active: true } },
    code: "agent_not_bound",
  },
  {
    guarantee: "without agents, a session may pay",
    intent: { agent: { subjectId: "usr_one", type: "user", active: true } },
    code: null,
  },
  {
    guarantee: "an inactive agent pays nothing",
    intent: { agent: { subjectId: "sa_one", type: "serviceAccount", active: false } },
    code: "agent_inactive",
  },
  { guarantee: "the reachable assurance is enough", rules: { minimumAssuranceLevel: "softwareApproved" }, code: null },
  {
    guarantee: "the policy asks for more assurance",
    rules: { minimumAssuranceLevel: "passkeyApproved" },
    code: "assurance_too_low",
  },
  {
    guarantee: "the seller asks for more assurance",
    intent: { seller: { ...seller, minimumAssuranceLevel: "walletApproved" } },
    code: "assurance_too_low",
  },
  {
    guarantee: "the resource asks for more assurance",
    intent: { resource: { ...resource, minimumAssuranceLevel: "hardwareApproved" } },
    code: "assurance_too_low",
  },
  { guarantee: "an intent ends at expiresAt", intent: { expiresAt: NOW }, code: "intent_expired" },
  { guarantee: "a time that cannot be read has passed", intent: { expiresAt: new Date(NaN) }, code: "intent_expired" },
  { guarantee: "an intentId is used once", intent: { duplicateIntentId: true }, code: "intent_invalid" },
  { guarantee: "an amount of zero is no payment", intent: { amount: zero }, code: "intent_invalid" },
  { guarantee: "a negative amount is no payment", intent: { amount: atomicOf(-1n) }, code: "intent_invalid" },
  {
    guarantee: "a difference from the registration is a mismatch",
    intent: { mismatches: [{ field: "amount", pointer: "/intent/amount" }] },
    code: "challenge_mismatch",
  },
  { guarantee: "a nonce is used once", intent: { duplicateNonce: true }, code: "nonce_reused" },
  { guarantee: "another asset is denied", intent: { asset: "EURC" }, code: "asset_not_allowed" },
  { guarantee: "another chain is denied", intent: { chain: "eip155:8453" }, code: "chain_not_allowed" },
  { guarantee: "a denied payee", rules: { payTo: { deny: [PAY_TO.toLowerCase()] } }, code: "payee_not_allowed" },
  {
    guarantee: "an allowed payee, whatever the case of its digits",
    rules: { payTo: { allow: [PAY_TO.toLowerCase()] } },
    code: null,
  },
  { guarantee: "an empty allow of payees allows none", rules: { payTo: { allow: [] } }, code: "payee_not_allowed" },
  {
    guarantee: "a payee rule without a payee denies",
    rules: { payTo: { deny: [] } },
    intent: { payTo: null },
    code: "payee_not_allowed",
  },
  { guarantee: "no payee rule needs no payee", intent: { payTo: null }, code: null },
  { guarantee: "an allowed seller", rules: { sellers: { allow: ["sel_one"] } }, code: null },
  { guarantee: "a denied seller", rules: { sellers: { deny: ["sel_one"] } }, code: "seller_denied" },
  { guarantee: "deny wins over allow", rules: { sellers: { allow: ["sel_one"], deny: ["sel_one"] } }, code: "seller_denied" },
  { guarantee: "an empty allow of sellers allows none", rules: { sellers: { allow: [] } }, code: "seller_not_allowed" },
  { guarantee: "a seller that is not listed", rules: { sellers: { allow: ["sel_two"] } }, code: "seller_not_allowed" },
  {
    guarantee: "a suspended seller is not paid",
    intent: { seller: { ...seller, status: "suspended" } },
    code: "seller_not_allowed",
  },
  { guarantee: "an unknown seller is not paid", intent: { seller: null, resource: null }, code: "seller_not_allowed" },
  {
    guarantee: "an unknown seller is not paid even where the policy would admit it",
    rules: { sellers: { unregistered: "allow" } },
    intent: { seller: null, resource: null },
    code: "seller_not_allowed",
  },
  { guarantee: "a verified seller", rules: { requireVerifiedSeller: true }, code: null },
  {
    guarantee: "an unverified seller",
    rules: { requireVerifiedSeller: true },
    intent: { seller: { ...seller, verified: false } },
    code: "seller_unverified",
  },
  { guarantee: "a domain is matched", rules: { domains: { allow: ["shop.example.com"] } }, code: null },
  { guarantee: "a parent domain is matched", rules: { domains: { allow: ["example.com"] } }, code: null },
  {
    guarantee: "a domain matches on a dot boundary alone",
    rules: { domains: { allow: ["op.example.com"] } },
    code: "domain_not_allowed",
  },
  {
    guarantee: "a longer name is another domain",
    rules: { domains: { allow: ["example.com"] } },
    intent: { seller: { ...seller, domain: "evil-example.com" } },
    code: "domain_not_allowed",
  },
  {
    guarantee: "a child does not admit its parent",
    rules: { domains: { allow: ["shop.example.com"] } },
    intent: { seller: { ...seller, domain: "example.com" } },
    code: "domain_not_allowed",
  },
  {
    guarantee: "a denied parent domain denies",
    rules: { domains: { allow: ["shop.example.com"], deny: ["example.com"] } },
    code: "domain_not_allowed",
  },
  { guarantee: "an empty allow of domains allows none", rules: { domains: { allow: [] } }, code: "domain_not_allowed" },
  {
    guarantee: "a denied host is denied on every port",
    rules: { domains: { deny: ["localhost"] } },
    intent: { seller: { ...seller, domain: "localhost:4021" } },
    code: "domain_not_allowed",
  },
  {
    guarantee: "an allowed port is that port",
    rules: { domains: { allow: ["localhost:4021"] } },
    intent: { seller: { ...seller, domain: "localhost:4022" } },
    code: "domain_not_allowed",
  },
  {
    guarantee: "a seller without a domain meets no domain rule",
    rules: { domains: { deny: [] } },
    intent: { seller: { ...seller, domain: "" } },
    code: "domain_not_allowed",
  },
  { guarantee: "a resource by its id", rules: { resources: [{ sellerId: "sel_one", resourceId: "report" }] }, code: null },
  {
    guarantee: "a resource by its method and path",
    rules: { resources: [{ sellerId: "sel_one", method: "GET", pathTemplate: "/reports/{id}" }] },
    code: null,
  },
  {
    guarantee: "another method is another resource",
    rules: { resources: [{ sellerId: "sel_one", method: "POST", pathTemplate: "/reports/{id}" }] },
    code: "resource_not_allowed",
  },
  {
    guarantee: "the same id at another seller is another resource",
    rules: { resources: [{ sellerId: "sel_two", resourceId: "report" }] },
    code: "resource_not_allowed",
  },
  { guarantee: "an empty list of resources allows none", rules: { resources: [] }, code: "resource_not_allowed" },
  { guarantee: "an unknown resource is not paid", intent: { resource: null }, code: "resource_not_allowed" },
  {
    guarantee: "a resource of another seller",
    intent: { resource: { ...resource, sellerId: "sel_two" } },
    code: "resource_not_allowed",
  },
  {
    guarantee: "a challenge that the resource does not take",
    intent: { paymentChallengeType: "mpp" },
    code: "protocol_not_allowed",
  },
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

describe("decide", () => {
  test.each(rows)("$guarantee: $code", ({ rules, mandate, usage, intent, code }) => {
    const decision = decide(mandateOf(rules, mandate), usage ?? usageOf(), intentOf(intent), NOW);
    expect(decision.denialCode ?? null).toBe(code);
    expect(decision.outcome).toBe(code === null ? "allow" : "deny");
    if (code !== null) expect(decision.reasons[0]).toMatchObject({ code, effect: "deny" });
  });

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

  test("nobody is asked to approve what is denied", () => {
    const decision = decide(mandateOf({ approval: { mode: "always" } }, { status: "revoked" }), usageOf(), intentOf(), NOW);
    expect(decision).toMatchObject({ outcome: "deny", denialCode: "mandate_revoked" });
    expect(decision.reasons.find(({ code }) => code === "approval_required")?.effect).toBe("info");
  });

  test("a reason shows what is left, in the asset's own units", () => {
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

  test("buckets of a window that is over no longer count", () => {
    const rules = { limits: { budgets: [{ ...DAY, amount: "5" }] } };
    const next = new Date("2026-11-22T00:00:00Z");
    const intent = intentOf({ expiresAt: new Date("2026-11-22T01:00:00Z") });
    expect(decide(mandateOf(rules), usedToday("5"), intent, new Date(next.getTime() - 1)).outcome).toBe("deny");
    expect(decide(mandateOf(rules), usedToday("5"), intent, next).outcome).toBe("allow");
  });
});
