import { describe, expect, test } from "vitest";
import { atomicOf, zero } from "#lib/money.ts";
import { at, decideRow, NOW, resource, seller, usageOf, usdc, type RuleRow } from "#test/mandate-facts.ts";

const rows: RuleRow[] = [
  { guarantee: "allows a payment that breaks no rule", code: null },
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
    rules: { minimumAssuranceLevel: "walletApproved" },
    code: "assurance_too_low",
  },
  {
    guarantee: "a person's approval without a passkey does not reach the level of a passkey",
    rules: { minimumAssuranceLevel: "passkeyApproved" },
    intent: { approvedByPerson: true },
    code: "assurance_too_low",
  },
  {
    guarantee: "a person's approval with a passkey is one",
    rules: { minimumAssuranceLevel: "passkeyApproved" },
    intent: { approvedByPerson: true, assuranceLevel: "passkeyApproved" },
    code: null,
  },
  {
    guarantee: "a passkey is no wallet",
    rules: { minimumAssuranceLevel: "walletApproved" },
    intent: { approvedByPerson: true, assuranceLevel: "passkeyApproved" },
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
];

describe("rules of the mandate and the intent", () => {
  test.each(rows)("$guarantee: $code", (row) => {
    const decision = decideRow(row);
    expect(decision.denialCode ?? null).toBe(row.code);
    expect(decision.outcome).toBe(row.code === null ? "allow" : "deny");
    if (row.code !== null) expect(decision.reasons[0]).toMatchObject({ code: row.code, effect: "deny" });
  });
});

describe("a demand for a passkey", () => {
  const asks = { minimumAssuranceLevel: "passkeyApproved" } as const;

  test.each<readonly [string, RuleRow]>([
    ["policy", { guarantee: "", code: null, rules: { ...asks, approval: { mode: "never" } } }],
    ["seller", { guarantee: "", code: null, intent: { seller: { ...seller, ...asks } } }],
    ["resource", { guarantee: "", code: null, intent: { resource: { ...resource, ...asks } } }],
  ])("of the %s asks a person, whatever the approval rule says", (who, row) => {
    const { outcome, reasons } = decideRow(row);
    expect(outcome).toBe("requireApproval");
    expect(reasons[0]).toMatchObject({ code: "approval_required", rule: "minimumAssuranceLevel", effect: "approval" });
    expect(reasons[0]?.message).toBe(`The ${who} asks a person to approve this payment with a passkey.`);
  });

  test("asks nobody if another rule denies", () => {
    const { outcome, reasons } = decideRow({ guarantee: "", code: null, rules: asks, intent: { duplicateNonce: true } });
    expect(outcome).toBe("deny");
    expect(reasons.find(({ code }) => code === "approval_required")?.effect).toBe("info");
  });
});
