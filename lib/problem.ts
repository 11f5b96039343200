import { z } from "zod";
import { defaultActions } from "#lib/next-actions.ts";
import { Actor, Category, NextActionType, type Actor as ActorName, type Category as CategoryName } from "#lib/vocabulary.ts";

type Row = {
  readonly status: number;
  readonly title: string;
  readonly category: CategoryName;
  readonly actor: ActorName;
  readonly retryable: boolean;
};

const row = (status: number, title: string, category: CategoryName, actor: ActorName, retryable = false): Row => ({
  status,
  title,
  category,
  actor,
  retryable,
});

/** If the execution of a payment fails, the reply has the status 402 and the code of the failure. */
export const problems = {
  invalid_request: row(400, "Invalid request", "validation_error", "agent"),
  idempotency_key_required: row(400, "Idempotency key required", "validation_error", "agent"),
  ambiguous_credentials: row(400, "Ambiguous credentials", "validation_error", "agent"),
  unauthenticated: row(401, "Not signed in", "authentication_error", "agent"),
  api_key_invalid: row(401, "API key invalid", "authentication_error", "agent"),
  session_expired: row(401, "Session expired", "authentication_error", "agent"),
  insufficient_funds: row(402, "Insufficient funds", "buyer_action_required", "buyer", true),
  credential_missing: row(402, "Payment credential missing", "agent_action_required", "agent", true),
  credential_malformed: row(402, "Payment credential malformed", "agent_action_required", "agent", true),
  credential_expired: row(402, "Payment credential expired", "agent_action_required", "agent", true),
  credential_not_yet_valid: row(402, "Payment credential not yet valid", "agent_action_required", "agent", true),
  signature_invalid: row(402, "Signature invalid", "agent_action_required", "agent", true),
  signer_mismatch: row(402, "Signer mismatch", "agent_action_required", "agent", true),
  amount_mismatch: row(402, "Amount mismatch", "policy_denied", "seller"),
  recipient_mismatch: row(402, "Recipient mismatch", "policy_denied", "seller"),
  network_mismatch: row(402, "Network mismatch", "policy_denied", "seller"),
  asset_mismatch: row(402, "Asset mismatch", "policy_denied", "seller"),
  token_domain_mismatch: row(402, "Token domain mismatch", "policy_denied", "seller"),
  nonce_already_used: row(402, "Nonce already used", "conflict", "agent"),
  wallet_not_delegated: row(402, "Wallet not delegated", "buyer_action_required", "buyer", true),
  scheme_unsupported: row(402, "Scheme unsupported", "configuration_error", "seller"),
  verification_failed: row(402, "Verification failed", "payment_failed", "agent"),
  settlement_rejected: row(402, "Settlement rejected", "payment_failed", "network"),
  transaction_reverted: row(402, "Transaction reverted", "payment_failed", "network"),
  forbidden: row(403, "Forbidden", "permission_error", "agent"),
  capability_required: row(403, "Capability required", "permission_error", "agent"),
  agent_paused: row(403, "Agent paused", "permission_error", "buyer", true),
  origin_not_allowed: row(403, "Origin not allowed", "permission_error", "agent"),
  banned: row(403, "Account banned", "permission_error", "agent"),
  setup_code_invalid: row(403, "Set-up code invalid", "permission_error", "agent"),
  policy_denied: row(403, "Denied by policy", "policy_denied", "buyer"),
  approval_required: row(403, "Approval required", "approval_required", "buyer"),
  approval_rejected: row(403, "Approval rejected", "approval_required", "buyer"),
  approval_revoked: row(403, "Approval taken back", "approval_required", "buyer"),
  mandate_revoked: row(403, "Mandate revoked", "policy_denied", "buyer"),
  mandate_not_active: row(403, "Mandate not active", "policy_denied", "buyer"),
  mandate_not_yet_valid: row(403, "Mandate not yet valid", "policy_denied", "buyer"),
  mandate_expired: row(403, "Mandate expired", "policy_denied", "buyer"),
  payee_not_allowed: row(403, "Payee not allowed", "policy_denied", "buyer"),
  asset_not_allowed: row(403, "Asset not allowed", "policy_denied", "buyer"),
  per_payment_limit_exceeded: row(403, "Payment limit exceeded", "policy_denied", "buyer"),
  count_limit_exceeded: row(403, "Count limit exceeded", "policy_denied", "buyer"),
  period_budget_exceeded: row(403, "Period budget exceeded", "policy_denied", "buyer"),
  emergency_stop: row(403, "Stopped in an emergency", "policy_denied", "buyer"),
  not_found: row(404, "Not found", "not_found", "agent"),
  method_not_allowed: row(405, "Method not allowed", "validation_error", "agent"),
  not_acceptable: row(406, "Not acceptable", "validation_error", "agent"),
  idempotency_in_flight: row(409, "Request in flight", "conflict", "agent", true),
  conflict: row(409, "Conflict", "conflict", "agent"),
  nonce_reused: row(409, "Nonce reused", "conflict", "agent"),
  authorization_consumed: row(409, "Authorization consumed", "conflict", "agent"),
  price_changed: row(409, "Price changed", "seller_action_required", "seller", true),
  out_of_stock: row(409, "Out of stock", "seller_action_required", "seller", true),
  approval_already_decided: row(409, "Approval already decided", "conflict", "buyer"),
  review_required: row(409, "Review required", "conflict", "buyer"),
  checkout_changed: row(409, "Checkout has changed", "conflict", "buyer"),
  approval_basket_mismatch: row(409, "Approval is for something else", "conflict", "buyer"),
  checkout_closed: row(409, "Checkout is closed", "conflict", "buyer"),
  no_matching_mandate: row(409, "No mandate covers this checkout", "buyer_action_required", "buyer"),
  approval_expired: row(410, "Approval expired", "approval_required", "agent"),
  intent_expired: row(410, "Intent expired", "conflict", "agent"),
  continuation_expired: row(410, "Continuation expired", "conflict", "agent"),
  authorization_expired: row(410, "Authorization expired", "conflict", "agent"),
  quote_expired: row(410, "Quote expired", "seller_action_required", "seller", true),
  slug_taken: row(409, "Slug taken", "conflict", "agent"),
  organization_limit_reached: row(409, "Organization limit reached", "conflict", "agent"),
  keys_undecided: row(409, "Keys need a decision", "conflict", "agent"),
  last_admin: row(409, "Last admin", "conflict", "agent"),
  already_claimed: row(409, "Already claimed", "conflict", "agent"),
  body_too_large: row(413, "Body too large", "validation_error", "agent"),
  content_type_unsupported: row(415, "Content type unsupported", "validation_error", "agent"),
  idempotency_key_reused: row(422, "Idempotency key reused", "validation_error", "agent"),
  chain_unsupported: row(422, "Chain unsupported", "validation_error", "agent"),
  asset_unsupported: row(422, "Asset unsupported", "validation_error", "agent"),
  items_ambiguous: row(422, "Items ambiguous", "validation_error", "agent"),
  fee_payer_mismatch: row(422, "Fee payer mismatch", "validation_error", "agent"),
  step_up_required: row(428, "Step-up required", "approval_required", "buyer"),
  storefront_unavailable: row(424, "Storefront unavailable", "seller_action_required", "seller", true),
  storefront_invalid: row(424, "Storefront invalid", "seller_action_required", "seller"),
  approval_limit_reached: row(429, "Too many requests for approval", "rate_limited", "agent", true),
  rate_limited: row(429, "Too many requests", "rate_limited", "agent", true),
  internal_error: row(500, "Internal error", "internal_error", "service", true),
  rpc_unavailable: row(502, "Chain unavailable", "provider_unavailable", "provider", true),
  overloaded: row(503, "Overloaded", "provider_unavailable", "service", true),
  service_unavailable: row(503, "Service unavailable", "provider_unavailable", "service", true),
} as const satisfies Record<string, Row>;

export type ProblemCode = keyof typeof problems;

export const NextAction = z
  .object({
    type: NextActionType,
    label: z.string(),
    description: z.string().optional(),
    href: z.string().optional(),
    address: z.string().optional(),
    chain: z.string().optional(),
    asset: z.string().optional(),
    amount: z.string().optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "NextAction", description: "What to do next, and where." });
export type NextAction = z.infer<typeof NextAction>;

export const PaymentFacts = z
  .object({
    chain: z.string().optional(),
    asset: z.string().optional(),
    tokenAddress: z.string().optional(),
    tokenDecimals: z.number().int().optional(),
    amount: z.string().optional(),
    amountAtomic: z.string().optional(),
    requiredAmount: z.string().optional(),
    requiredAmountAtomic: z.string().optional(),
    balance: z.string().optional(),
    balanceAtomic: z.string().optional(),
    payer: z.string().optional(),
    payTo: z.string().optional(),
  })
  .meta({ id: "PaymentFacts", description: "The payment that a problem is about." });
export type PaymentFacts = z.infer<typeof PaymentFacts>;

export const FieldError = z
  .object({ detail: z.string(), pointer: z.string() })
  .meta({ id: "FieldError", description: "A field and what is wrong with it." });
export type FieldError = z.infer<typeof FieldError>;

/** The schema of an error body: RFC 9457 with the API's additional fields. */
export const ErrorBody = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    instance: z.string().optional(),
    requestId: z.string(),
    code: z.string(),
    category: Category,
    actor: Actor,
    retryable: z.boolean(),
    payment: PaymentFacts.optional(),
    nextActions: z.array(NextAction),
    debug: z.record(z.string(), z.unknown()).optional(),
    errors: z.array(FieldError).optional(),
  })
  .meta({ id: "ErrorBody", description: "Why a request was refused, who can do something about it, and what." });
export type ErrorBody = z.infer<typeof ErrorBody>;

export type ProblemDetails = {
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  readonly nextActions?: readonly NextAction[];
  readonly payment?: PaymentFacts;
  readonly instance?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly retryAfterSeconds?: number;
  /** The name of the limit that was hit, for the log. Not sent. */
  readonly limit?: string;
};

const brand = Symbol.for("countersign.problem");

/** Problems are recognized by a symbol, because the server and Next.js each load their own copy of this class. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: ProblemDetails;
  readonly [brand] = true;

  constructor(code: ProblemCode, details: ProblemDetails) {
    super(details.detail);
    this.name = "Problem";
    this.code = code;
    this.details = details;
  }
}

export const isProblem = (error: unknown): error is Problem => typeof error === "object" && error !== null && brand in error;

export function problemBody(problem: Problem, requestId: string): ErrorBody {
  const { status, title, category, actor, retryable } = problems[problem.code];
  const { detail, errors, nextActions, payment, instance } = problem.details;
  return {
    type: "about:blank",
    title,
    status,
    detail,
    ...(instance !== undefined && { instance }),
    requestId,
    code: problem.code,
    category,
    actor,
    retryable,
    ...(payment && { payment }),
    nextActions: [...(nextActions?.length ? nextActions : defaultActions(problem.code, category))],
    ...(errors && { errors: [...errors] }),
  };
}

export const invalidField = (pointer: string, detail: string): Problem =>
  new Problem("invalid_request", { detail: "The request has an invalid field.", errors: [{ detail, pointer }] });

/** A missing record and a record of another organization get the same answer, so that nobody learns which ids exist. */
export const notFound = (what: string): Problem => new Problem("not_found", { detail: `There is no such ${what}.` });

/** The API documentation contains this text too. */
export const keyReusedDetail =
  "This idempotency key was used for a different request. Repeat that request to get its answer. A new key is only for something new: for the same payment, it would hold the budget a second time.";
