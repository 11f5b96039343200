import type { DenialCode } from "#lib/vocabulary.ts";
import type { FailureCode } from "#lib/x402/failure.ts";

/* Explains codes to people. A reason's message says what was found; these texts say what the code means. Pure and browser-safe. */

/** The page that a remedy links to: the mandate, its policy, its agents (keys), or none. */
export type Remedy = "mandate" | "policy" | "keys" | "none";

type Explained = {
  /** One sentence: why the payment was denied. */
  readonly means: string;
  /** One sentence: what makes the payment possible, or that nothing does. */
  readonly cure: string;
  readonly remedy: Remedy;
};

const again = "The agent can ask again with a new intent.";
const ask = "Change the mandate if your agents should pay this. The agent can then ask again.";

/** Explains every code that denies a payment. */
export const denials: Readonly<Record<DenialCode, Explained>> = {
  emergency_stop: {
    means: "The platform had stopped this seller in an emergency.",
    cure: "Ask the platform’s operators before anything is paid again.",
    remedy: "none",
  },
  mandate_not_active: {
    means: "The mandate was still a draft, and a draft pays nothing.",
    cure: "Activate it if your agents should use it.",
    remedy: "mandate",
  },
  mandate_suspended: { means: "The mandate was paused.", cure: "Resume it if your agents should go on.", remedy: "mandate" },
  mandate_revoked: {
    means: "The mandate was revoked, and that is for ever.",
    cure: "Write a new mandate if your agents should pay.",
    remedy: "mandate",
  },
  mandate_expired: { means: "The mandate’s time was over.", cure: "Give it a later end.", remedy: "policy" },
  mandate_not_yet_valid: { means: "The mandate’s time had not begun.", cure: "Wait, or let it begin earlier.", remedy: "policy" },
  mandate_exhausted: { means: "The mandate’s total was used up.", cure: "Raise the total.", remedy: "policy" },
  agent_not_bound: {
    means: "The mandate names the agents that may use it, and this one is not among them.",
    cure: "Add the agent to the mandate if it should pay.",
    remedy: "policy",
  },
  agent_inactive: {
    means: "The agent’s key or account was revoked.",
    cure: "Give the agent a new key if it should pay.",
    remedy: "keys",
  },
  assurance_too_low: {
    means: "The mandate, the seller or the resource asks for a stronger confirmation by a person than there was.",
    cure: "Have a person confirm with a passkey, or ask for less in the mandate.",
    remedy: "policy",
  },
  intent_expired: { means: "The request was already over when it came.", cure: again, remedy: "none" },
  intent_invalid: {
    means: "A fact that the decision needs was missing, or the intent was used before.",
    cure: again,
    remedy: "none",
  },
  challenge_mismatch: {
    means: "What the agent asked for differs from what the seller registered, quoted or asks for.",
    cure: "Nothing to change on your side. If it happens again, the seller changed its price or its address.",
    remedy: "none",
  },
  nonce_reused: { means: "The agent sent a nonce that it had used before.", cure: again, remedy: "none" },
  asset_not_allowed: { means: "The mandate pays in another asset.", cure: "Write a mandate for this asset.", remedy: "mandate" },
  chain_not_allowed: {
    means: "The mandate pays on another network.",
    cure: "Write a mandate for this network.",
    remedy: "mandate",
  },
  payee_not_allowed: { means: "The mandate does not pay to this address.", cure: ask, remedy: "policy" },
  seller_denied: { means: "The mandate forbids this seller.", cure: ask, remedy: "policy" },
  seller_not_allowed: { means: "The mandate does not allow this seller, or nobody knows it.", cure: ask, remedy: "policy" },
  seller_unverified: {
    means: "The mandate asks for a verified seller or domain, and this seller has not proved that the domain is its own.",
    cure: "Ask the seller to verify its domain, or allow the seller by its id or its address in the mandate.",
    remedy: "policy",
  },
  domain_not_allowed: { means: "The mandate does not allow this domain.", cure: ask, remedy: "policy" },
  resource_not_allowed: { means: "The mandate does not allow this resource.", cure: ask, remedy: "policy" },
  protocol_not_allowed: {
    means: "The seller does not take this kind of payment for the resource.",
    cure: "Nothing to change on your side.",
    remedy: "none",
  },
  outside_schedule: {
    means: "The mandate allows payments at other times.",
    cure: "The agent can ask again in time, or change the schedule.",
    remedy: "policy",
  },
  per_payment_limit_exceeded: {
    means: "The payment was above the limit for one payment.",
    cure: "Raise the limit if your agents should pay this much at once.",
    remedy: "policy",
  },
  period_budget_exceeded: {
    means: "The budget of the period did not have enough left.",
    cure: "Raise the budget, or wait until it resets.",
    remedy: "policy",
  },
  total_budget_exceeded: { means: "The mandate’s total did not have enough left.", cure: "Raise the total.", remedy: "policy" },
  count_limit_exceeded: {
    means: "The mandate’s number of payments was used up.",
    cure: "Raise the number, or wait until it resets.",
    remedy: "policy",
  },
  cooldown_active: {
    means: "The last payment was too short a time ago.",
    cure: "The agent can ask again a little later.",
    remedy: "policy",
  },
  approval_rejected: {
    means: "A person had declined the same within the last hour.",
    cure: "The agent can ask again when the hour is over.",
    remedy: "none",
  },
  fee_limit_exceeded: {
    means: "The service fee was above what the mandate tolerates.",
    cure: "Raise the fee that it tolerates.",
    remedy: "policy",
  },
};

/** Row titles, by the rule name in a reason. */
export const rules: Readonly<Record<string, string>> = {
  emergency: "Not stopped by the platform",
  status: "Mandate is active",
  validFrom: "Begin of the mandate",
  validUntil: "End of the mandate",
  agents: "Agents of the mandate",
  agent: "Agent is active",
  minimumAssuranceLevel: "Confirmation by a person",
  "intent.expiresAt": "Time of the request",
  "intent.amount": "Amount",
  "intent.registration": "Registered facts",
  "intent.challenge": "The seller’s challenge",
  "intent.intentId": "Request is new",
  "intent.nonce": "Nonce is new",
  assets: "Asset and network",
  protocol: "Payment protocol",
  sellers: "Sellers",
  requireVerifiedSeller: "Verified seller",
  payTo: "Payee’s address",
  domains: "Domains",
  resources: "Resources",
  schedule: "Schedule",
  "limits.perPayment": "Per payment",
  "limits.total": "Total",
  "limits.budgets": "Budget",
  "limits.counts": "Number of payments",
  "limits.cooldownSeconds": "Time between payments",
  maximumFee: "Service fee",
  approval: "Ask a person",
};

/** A rule that this version does not know keeps its own name. */
export const ruleName = (rule: string): string => rules[rule] ?? rule;

/** Why an attempt failed, and what the agent must do next. */
export const failures: Readonly<Record<FailureCode, string>> = {
  insufficient_funds: "The paying wallet did not hold enough. Send it more; the agent then signs again.",
  credential_malformed: "The agent’s credential could not be read. The agent signs a new one.",
  credential_expired: "The agent’s credential had run out. The agent signs a new one.",
  credential_not_yet_valid: "The agent’s credential was not valid yet. The agent signs a new one.",
  signature_invalid: "The signature of the credential is wrong. The agent signs a new one.",
  signer_mismatch: "Another wallet signed than the one that the mandate names.",
  amount_mismatch: "The credential pays another amount than was authorized.",
  recipient_mismatch: "The credential pays somebody else than was authorized.",
  network_mismatch: "The credential is for another network than was authorized.",
  asset_mismatch: "The credential pays in another token than was authorized.",
  token_domain_mismatch: "The credential is signed for another token than was authorized.",
  nonce_already_used: "The credential was used for something else before.",
  scheme_unsupported: "The agent signed a kind of credential that cannot be used here.",
  verification_failed: "The credential could not be verified.",
  settlement_rejected: "The payment was not settled: its credential ran out, was cancelled or was refused. Nothing was paid.",
  transaction_reverted: "The network undid the transaction. Nothing was paid.",
};

export const isDenial = (code: string | null | undefined): code is DenialCode =>
  code !== null && code !== undefined && code in denials;
export const isFailure = (code: string | null | undefined): code is FailureCode =>
  code !== null && code !== undefined && code in failures;
