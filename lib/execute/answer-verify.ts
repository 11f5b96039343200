import type { VerifyResponse } from "@x402/core/types";
import { askToken } from "#lib/payments/executions/verify-credential.ts";
import type { SettlementRequest } from "#lib/execute/settlement-request.ts";
import { x402Reason } from "#lib/settlement/x402-reason.ts";

const alreadyUsed = (payer: string): VerifyResponse => ({
  isValid: false,
  invalidReason: x402Reason("nonce_already_used"),
  payer,
});

/** Without asking the chain, a payment whose settlement has begun is valid unless it failed or /settle answered success. */
export async function answerVerify({ credential, expected, match }: SettlementRequest): Promise<VerifyResponse> {
  const { payer } = credential;
  if (match.kind === "plain") {
    const { status, handedOver } = match.settlement;
    return status === "failed" || handedOver ? alreadyUsed(payer) : { isValid: true, payer };
  }
  if (match.kind === "execution") {
    const { settlementStatus, handedOver } = match.execution;
    if (settlementStatus === "failed" || handedOver) return alreadyUsed(payer);
    if (settlementStatus !== "pending") return { isValid: true, payer };
  }
  const verdict = await askToken(credential, expected);
  if (verdict.ok) return { isValid: true, payer };
  return { isValid: false, invalidReason: x402Reason(verdict.code), invalidMessage: verdict.detail, payer };
}
