import type { NextAction, ProblemCode } from "#lib/problem.ts";
import type { Category } from "#lib/vocabulary.ts";

export const commonActions = {
  createMandate: { type: "create_mandate", label: "Create a mandate" },
  selectMandate: { type: "select_mandate", label: "Use another mandate" },
  raiseLimit: { type: "raise_mandate_limit", label: "Raise the mandate's limit" },
  renewMandate: { type: "renew_mandate", label: "Renew the mandate" },
  resumeMandate: { type: "resume_mandate", label: "Resume the mandate" },
  approveCheckout: { type: "approve_checkout", label: "The buyer confirms the order" },
  refreshQuote: { type: "refresh_quote", label: "Ask for a new quote" },
  otherSeller: { type: "use_other_seller", label: "Use another seller" },
  retryLater: { type: "retry_later", label: "Try again later" },
} as const satisfies Record<string, NextAction>;

const { selectMandate, approveCheckout, refreshQuote, otherSeller, retryLater } = commonActions;
const correct: NextAction = { type: "correct_request", label: "Correct the request, and send it again" };
const readPayment: NextAction = { type: "poll_status", label: "Read the payment before you pay again" };
const askNoMore: NextAction = { type: "use_other_seller", label: "Do not ask again for this payment, and choose another one" };
const authorizeAgain: NextAction = { type: "retry_later", label: "Authorize the payment again, under a new idempotency key" };
const readAgain: NextAction = { type: "poll_status", label: "Read the current state, and decide again" };
const showAgain: NextAction = {
  type: "approve_checkout",
  label: "Open the page of this checkout, and decide about what it shows",
};

const byCategory: Readonly<Record<Category, NextAction>> = {
  buyer_action_required: selectMandate,
  seller_action_required: otherSeller,
  agent_action_required: { type: "sign_credential", label: "Sign the payment again, as the seller asks for it" },
  operator_action_required: { type: "contact_support", label: "Ask the operators of this service" },
  approval_required: approveCheckout,
  policy_denied: selectMandate,
  validation_error: correct,
  authentication_error: { type: "sign_in", label: "Sign in, or use a valid API key" },
  permission_error: { type: "contact_support", label: "Ask an administrator of your organization" },
  not_found: { type: "correct_request", label: "Check the id, and whether your organization may read it" },
  conflict: readAgain,
  rate_limited: { type: "retry_later", label: "Wait and try again" },
  payment_failed: authorizeAgain,
  settlement_unknown: readPayment,
  provider_unavailable: retryLater,
  configuration_error: otherSeller,
  internal_error: retryLater,
};

const byCode: Partial<Readonly<Record<ProblemCode, NextAction>>> = {
  insufficient_funds: { type: "fund_wallet", label: "Send the token to the paying wallet" },
  wallet_not_delegated: { type: "delegate_wallet", label: "Delegate the wallet" },
  amount_mismatch: otherSeller,
  recipient_mismatch: otherSeller,
  network_mismatch: otherSeller,
  asset_mismatch: otherSeller,
  token_domain_mismatch: otherSeller,
  nonce_already_used: readPayment,
  approval_rejected: askNoMore,
  approval_revoked: askNoMore,
  approval_expired: { type: "retry_later", label: "Ask again, once, under a new idempotency key" },
  step_up_required: { type: "step_up", label: "Confirm that it is you" },
  idempotency_in_flight: { type: "retry_later", label: "Wait, and send the same request again" },
  idempotency_key_reused: { type: "correct_request", label: "Use a new idempotency key for another request" },
  nonce_reused: { type: "correct_request", label: "Use a new nonce for another payment" },
  authorization_consumed: readPayment,
  price_changed: refreshQuote,
  quote_expired: refreshQuote,
  review_required: showAgain,
  checkout_changed: showAgain,
  no_matching_mandate: { type: "create_mandate", label: "Change a mandate or make one" },
  intent_expired: authorizeAgain,
  authorization_expired: authorizeAgain,
  continuation_expired: { type: "refresh_quote", label: "Preview the checkout again" },
  setup_code_invalid: correct,
  origin_not_allowed: correct,
  slug_taken: correct,
};

/** What can be done about any problem with this code. A problem that knows more names its own actions. */
export const defaultActions = (code: ProblemCode, category: Category): readonly NextAction[] => [
  byCode[code] ?? byCategory[category],
];
