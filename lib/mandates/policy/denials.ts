import { commonActions } from "#lib/next-actions.ts";
import type { NextAction } from "#lib/problem.ts";
import type { DenialCode, MandateMatch } from "#lib/vocabulary.ts";

/** The page where a person can make the denied payment possible. */
export type Remedy = "mandate" | "policy" | "keys" | "none";

type Denial = {
  readonly means: string;
  /** What makes the payment possible, or that nothing does. */
  readonly cure: string;
  readonly remedy: Remedy;
  /** The next actions in a readiness check; if absent, to use another seller. */
  readonly actions?: readonly NextAction[];
  /** The mandateStatus of a checkout whose payment the mandate denies with this code; seller_not_allowed if absent. */
  readonly match?: MandateMatch;
  /** No policy prevents this denial, so it stays if past payments are decided again. */
  readonly beyondPolicy?: true;
};

const { createMandate, selectMandate, raiseLimit, renewMandate, resumeMandate, otherSeller, retryLater } = commonActions;

const again = "Ask again with a new request.";
const ask = "Change the mandate if this should be paid, then ask again.";

export const denials: Readonly<Record<DenialCode, Denial>> = {
  emergency_stop: {
    means: "The platform had stopped this seller in an emergency.",
    cure: "Ask the platform’s operators before anything is paid again.",
    remedy: "none",
  },
  mandate_not_active: {
    means: "The mandate was still a draft, and a draft pays nothing.",
    cure: "Activate it if your agents should use it.",
    remedy: "mandate",
    actions: [selectMandate],
    match: "not_active",
    beyondPolicy: true,
  },
  mandate_suspended: {
    means: "The mandate was paused.",
    cure: "Resume it if your agents should continue.",
    remedy: "mandate",
    actions: [resumeMandate, selectMandate],
    match: "not_active",
    beyondPolicy: true,
  },
  mandate_revoked: {
    means: "The mandate was revoked. This cannot be undone.",
    cure: "Write a new mandate if your agents should pay.",
    remedy: "mandate",
    actions: [createMandate, selectMandate],
    match: "revoked",
    beyondPolicy: true,
  },
  mandate_expired: {
    means: "The mandate had expired.",
    cure: "Give it a later end.",
    remedy: "policy",
    actions: [renewMandate, selectMandate],
    match: "expired",
  },
  mandate_not_yet_valid: {
    means: "The mandate was not valid yet.",
    cure: "Wait, or give it an earlier start.",
    remedy: "policy",
    actions: [retryLater],
    match: "not_active",
  },
  mandate_exhausted: {
    means: "The mandate’s total was used up.",
    cure: "Raise the total.",
    remedy: "policy",
    actions: [renewMandate, raiseLimit],
    match: "insufficient_budget",
  },
  agent_not_bound: {
    means: "The mandate names the agents that may use it, and the one that asked is not among them.",
    cure: "Add the agent to the mandate, or ask as one of its agents.",
    remedy: "policy",
    actions: [selectMandate],
    match: "no_mandate",
    beyondPolicy: true,
  },
  agent_inactive: {
    means: "The agent’s key or account was revoked.",
    cure: "Give the agent a new key if it should pay.",
    remedy: "keys",
    actions: [{ type: "contact_support", label: "Ask an administrator" }],
    beyondPolicy: true,
  },
  assurance_too_low: {
    means: "The mandate, the seller or the resource asks for a stronger confirmation by a person than there was.",
    cure: "Have a person confirm with a passkey, or ask for less in the mandate.",
    remedy: "policy",
  },
  intent_expired: { means: "The request had expired before it arrived.", cure: again, remedy: "none" },
  intent_invalid: {
    means: "A fact that the decision needs was missing, or the intent was used before.",
    cure: again,
    remedy: "none",
    beyondPolicy: true,
  },
  challenge_mismatch: {
    means: "The request differs from what the seller registered, quoted or asks for.",
    cure: "Nothing to change on your side. If it happens again, the seller changed its price or its address.",
    remedy: "none",
    beyondPolicy: true,
  },
  nonce_reused: {
    means: "The request had a nonce, or the reference of a payment made elsewhere, that was used before.",
    cure: "Look at the earlier payment. If this is another one, ask again with a new request.",
    remedy: "none",
    beyondPolicy: true,
  },
  asset_not_allowed: {
    means: "The mandate pays in another asset.",
    cure: "Write a mandate for this asset.",
    remedy: "mandate",
    actions: [selectMandate],
    match: "asset_mismatch",
  },
  chain_not_allowed: {
    means: "The mandate pays on another network.",
    cure: "Write a mandate for this network.",
    remedy: "mandate",
    actions: [selectMandate],
    match: "asset_mismatch",
  },
  payee_not_allowed: { means: "The mandate does not pay to this address.", cure: ask, remedy: "policy" },
  seller_denied: { means: "The mandate forbids this seller.", cure: ask, remedy: "policy" },
  seller_not_allowed: { means: "The mandate does not allow this seller, or the seller is unknown.", cure: ask, remedy: "policy" },
  seller_unverified: {
    means: "The mandate asks for a verified seller or domain, and this seller has not proved that the domain is its own.",
    cure: "Ask the seller to verify its domain, or allow the seller by its id or its address in the mandate.",
    remedy: "policy",
    actions: [{ type: "verify_seller", label: "Ask the seller to verify its domain" }, otherSeller],
  },
  domain_not_allowed: { means: "The mandate does not allow this domain.", cure: ask, remedy: "policy" },
  resource_not_allowed: { means: "The mandate does not allow this resource.", cure: ask, remedy: "policy" },
  protocol_not_allowed: {
    means: "The mandate does not admit this kind of payment, or the seller does not take it for the resource.",
    cure: "Nothing to change on your side, unless the mandate names what it admits.",
    remedy: "none",
  },
  outside_schedule: {
    means: "The mandate allows payments at other times.",
    cure: "Ask again at an allowed time, or allow more times in the mandate.",
    remedy: "policy",
    actions: [retryLater],
  },
  per_payment_limit_exceeded: {
    means: "The payment was above the limit for one payment.",
    cure: "Raise the limit if this much should be paid at once.",
    remedy: "policy",
    actions: [raiseLimit],
    match: "insufficient_budget",
  },
  period_budget_exceeded: {
    means: "The budget of the period did not have enough left.",
    cure: "Raise the budget, or wait until it resets.",
    remedy: "policy",
    actions: [raiseLimit, retryLater],
    match: "insufficient_budget",
  },
  total_budget_exceeded: {
    means: "The mandate’s total did not have enough left.",
    cure: "Raise the total.",
    remedy: "policy",
    actions: [raiseLimit],
    match: "insufficient_budget",
  },
  count_limit_exceeded: {
    means: "The mandate’s number of payments was used up.",
    cure: "Raise the number, or wait until it resets.",
    remedy: "policy",
    actions: [raiseLimit, retryLater],
    match: "insufficient_budget",
  },
  cooldown_active: {
    means: "Too little time had passed since the last payment.",
    cure: "Ask again a little later.",
    remedy: "policy",
    actions: [retryLater],
    match: "insufficient_budget",
  },
  approval_rejected: {
    means: "A person had declined the same within the last hour, or nobody had answered twice.",
    cure: "Ask again after an hour.",
    remedy: "none",
    beyondPolicy: true,
  },
  fee_limit_exceeded: {
    means: "The service fee was above the mandate’s limit for fees.",
    cure: "Raise its limit for fees.",
    remedy: "policy",
    actions: [raiseLimit],
    match: "insufficient_budget",
  },
  clearance_needed: {
    means: "A person must clear this purchase by card, and a card cannot wait.",
    cure: "Clear it and use the card again, or name the merchant in the mandate.",
    remedy: "policy",
  },
};

export const isDenial = (code: string | null | undefined): code is DenialCode =>
  code !== null && code !== undefined && code in denials;

export const denialActions = (code: string): readonly NextAction[] => (isDenial(code) && denials[code].actions) || [otherSeller];
