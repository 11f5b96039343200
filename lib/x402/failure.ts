import type { ProblemCode } from "#lib/problem.ts";

export const failureCodes = [
  "insufficient_funds",
  "credential_malformed",
  "credential_expired",
  "credential_not_yet_valid",
  "signature_invalid",
  "signer_mismatch",
  "amount_mismatch",
  "recipient_mismatch",
  "network_mismatch",
  "asset_mismatch",
  "token_domain_mismatch",
  "nonce_already_used",
  "scheme_unsupported",
  "verification_failed",
  "settlement_rejected",
  "transaction_reverted",
] as const satisfies readonly ProblemCode[];

export type FailureCode = (typeof failureCodes)[number];

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

/** Reasons have different names in the specification, in libraries and at facilitators, so a reason is matched by its ending. */
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
  [/transaction_state$/, "settlement_rejected", "The token refuses this transfer. Pay from another wallet."],
  [
    /(undeployed_smart_wallet|factory_not_allowed)$/,
    "signature_invalid",
    "The paying wallet is a contract that is not deployed. Deploy the wallet first, then sign a new payment credential.",
  ],
  [/signature$/, "signature_invalid", "The payment credential's signature is not valid."],
];

export function failureOf(reason: string | undefined): Failure {
  const metadata = { x402Reason: (reason ?? "").slice(0, 128) };
  const match = reasons.find(([pattern]) => pattern.test(reason ?? ""));
  if (match) return { code: match[1], detail: match[2], metadata };
  return { code: "verification_failed", detail: "The payment credential was refused.", metadata };
}
