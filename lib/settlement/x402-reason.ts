import type { FailureCode } from "#lib/x402/failure.ts";

const reasons: Readonly<Record<FailureCode, string>> = {
  insufficient_funds: "insufficient_funds",
  credential_malformed: "invalid_payload",
  credential_expired: "invalid_exact_evm_payload_authorization_valid_before",
  credential_not_yet_valid: "invalid_exact_evm_payload_authorization_valid_after",
  signature_invalid: "invalid_exact_evm_payload_signature",
  signer_mismatch: "invalid_exact_evm_payload_signature",
  amount_mismatch: "invalid_exact_evm_payload_authorization_value_mismatch",
  recipient_mismatch: "invalid_exact_evm_payload_recipient_mismatch",
  network_mismatch: "invalid_network",
  asset_mismatch: "invalid_payment_requirements",
  token_domain_mismatch: "invalid_payment_requirements",
  nonce_already_used: "invalid_exact_evm_nonce_already_used",
  scheme_unsupported: "unsupported_scheme",
  verification_failed: "invalid_payment_requirements",
  settlement_rejected: "invalid_transaction_state",
  transaction_reverted: "invalid_transaction_state",
};

export const x402Reason = (code: FailureCode): string => reasons[code];
