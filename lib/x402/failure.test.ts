import { expect, test } from "vitest";
import { failureOf } from "#lib/x402/failure.ts";

test.each([
  ["invalid_exact_evm_insufficient_balance", "insufficient_funds"],
  ["insufficient_funds", "insufficient_funds"],
  ["invalid_exact_evm_payload_authorization_valid_before", "credential_expired"],
  ["invalid_exact_evm_payload_authorization_valid_after", "credential_not_yet_valid"],
  ["invalid_exact_evm_nonce_already_used", "nonce_already_used"],
  ["invalid_exact_evm_signature", "signature_invalid"],
  ["invalid_exact_evm_payload_signature", "signature_invalid"],
  ["eip6492_factory_not_allowed", "signature_invalid"],
  ["invalid_exact_evm_recipient_mismatch", "recipient_mismatch"],
  ["invalid_exact_evm_payload_authorization_value_mismatch", "amount_mismatch"],
  ["invalid_exact_evm_authorization_value", "amount_mismatch"],
  ["invalid_exact_evm_network_mismatch", "network_mismatch"],
  ["invalid_exact_evm_missing_eip712_domain", "token_domain_mismatch"],
  ["invalid_exact_evm_token_name_mismatch", "token_domain_mismatch"],
  ["asset_not_deployed_contract", "scheme_unsupported"],
  ["invalid_exact_evm_scheme", "scheme_unsupported"],
  ["something_new", "verification_failed"],
  [undefined, "verification_failed"],
])("x402's reason %s is the failure code %s of this service", (reason, code) => expect(failureOf(reason).code).toBe(code));
