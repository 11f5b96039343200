import type { Actor, Category } from "#lib/vocabulary.ts";

type FailureRow = { readonly category: Category; readonly actor: Actor; readonly retryable: boolean };

const row = (category: Category, actor: Actor, retryable: boolean): FailureRow => ({ category, actor, retryable });

/** Why an execution failed, who can do something about it, and whether trying again helps. */
export const failures = {
  insufficient_funds: row("buyer_action_required", "buyer", true),
  credential_malformed: row("agent_action_required", "agent", true),
  credential_expired: row("agent_action_required", "agent", true),
  credential_not_yet_valid: row("agent_action_required", "agent", true),
  signature_invalid: row("agent_action_required", "agent", true),
  signer_mismatch: row("agent_action_required", "agent", true),
  amount_mismatch: row("policy_denied", "seller", false),
  recipient_mismatch: row("policy_denied", "seller", false),
  network_mismatch: row("policy_denied", "seller", false),
  asset_mismatch: row("policy_denied", "seller", false),
  token_domain_mismatch: row("policy_denied", "seller", false),
  nonce_already_used: row("conflict", "agent", false),
  scheme_unsupported: row("configuration_error", "seller", false),
  verification_failed: row("payment_failed", "agent", false),
  settlement_rejected: row("payment_failed", "network", false),
  transaction_reverted: row("payment_failed", "network", false),
  settlement_unknown: row("settlement_unknown", "provider", false),
} as const satisfies Record<string, FailureRow>;

export type FailureCode = keyof typeof failures;

export type Failure = {
  readonly code: FailureCode;
  readonly detail: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
};

export const failed = (
  code: FailureCode,
  detail: string,
  metadata?: Readonly<Record<string, unknown>>,
): { readonly ok: false } & Failure => ({
  ok: false,
  code,
  detail,
  ...(metadata && { metadata }),
});

/** x402's reasons are an open set: names differ between the specification, its libraries and facilitators, so they are matched by their ending. */
const reasons: readonly (readonly [RegExp, FailureCode, string])[] = [
  [/insufficient_(balance|funds)$/, "insufficient_funds", "The paying wallet does not hold enough of the token."],
  [/valid_before$/, "credential_expired", "The payment credential has expired. Sign a new one."],
  [/valid_after$/, "credential_not_yet_valid", "The payment credential is not valid yet."],
  [/nonce_already_used$/, "nonce_already_used", "The payment credential's nonce was used before."],
  [/recipient_mismatch$/, "recipient_mismatch", "The payment credential pays somebody else."],
  [/(value|value_mismatch|amount_mismatch)$/, "amount_mismatch", "The payment credential pays another amount."],
  [/network(_mismatch)?$/, "network_mismatch", "The payment credential is for another chain."],
  [
    /(missing_eip712_domain|token_name_mismatch|token_version_mismatch)$/,
    "token_domain_mismatch",
    "The payment credential is signed for another token domain.",
  ],
  [
    /(asset_not_deployed_contract|eip3009_not_supported|unsupported_scheme|unsupported_payload_type|_scheme)$/,
    "scheme_unsupported",
    "The token or scheme is not supported.",
  ],
  [
    /(signature|undeployed_smart_wallet|factory_not_allowed)$/,
    "signature_invalid",
    "The payment credential's signature is not valid.",
  ],
];

/** Our name for why x402 software refused a credential. */
export function failureOf(reason: string | undefined): Failure {
  const metadata = { x402Reason: (reason ?? "").slice(0, 128) };
  const match = reasons.find(([pattern]) => pattern.test(reason ?? ""));
  if (match) return { code: match[1], detail: match[2], metadata };
  return { code: "verification_failed", detail: "The payment credential was refused.", metadata };
}
