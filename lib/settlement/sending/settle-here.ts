import type { PaymentPayload, PaymentRequirements, SettleResponse } from "@x402/core/types";
import type { Hex } from "viem";
import { assetAt } from "#lib/chains/chains.ts";
import { chainReverted } from "#lib/chains/client.ts";
import { receiptWithin } from "#lib/chains/receipts.ts";
import { lower } from "#lib/evm.ts";
import { transferCall } from "#lib/onchain/token.ts";
import { askToken } from "#lib/payments/executions/verify-credential.ts";
import type { Progress } from "#lib/settlement/facilitator.ts";
import { confirmationTimeoutMs } from "#lib/settlement/limits.ts";
import { TooMuchGas } from "#lib/settlement/sending/send-group.ts";
import { senderOn } from "#lib/settlement/sending/sender.ts";
import { x402Reason } from "#lib/settlement/x402-reason.ts";
import { endOf, readCredential, type Credential } from "#lib/x402/credential.ts";
import type { ExpectedPayment } from "#lib/x402/requirements.ts";

function expectedOf({ network, asset: token, amount, payTo, maxTimeoutSeconds }: PaymentRequirements): ExpectedPayment {
  const asset = assetAt(network, token);
  if (!asset) throw new Error("The token of a settlement is no longer configured.");
  return { asset, amount: BigInt(amount), payTo: lower(payTo), maxTimeoutSeconds };
}

/** "unexpected_settle_error" if the token would accept the transfer now. */
async function reasonOf(credential: Credential, expected: ExpectedPayment): Promise<string> {
  const verdict = await askToken(credential, expected);
  return verdict.ok ? "unexpected_settle_error" : x402Reason(verdict.code);
}

/** A transfer that reverts in the gas estimate is not sent. @throws for example if the chain does not answer */
export async function settleHere(
  payload: PaymentPayload,
  requirements: PaymentRequirements,
  seen: Progress,
): Promise<SettleResponse> {
  const { network } = requirements;
  const answer = (errorReason: string, transaction: Hex | "" = ""): SettleResponse => ({
    success: false,
    errorReason,
    transaction,
    network,
  });
  const decoded = readCredential(payload);
  if (!decoded.ok) return answer(x402Reason(decoded.code));
  const { credential } = decoded;
  const expected = expectedOf(requirements);
  const call = {
    to: expected.asset.tokenAddress,
    data: transferCall(expected, credential),
    validBefore: endOf(credential),
  };
  let hash: Hex;
  try {
    hash = await senderOn(network).send(call);
  } catch (error) {
    if (error instanceof TooMuchGas) return { ...answer(x402Reason("settlement_rejected")), errorMessage: error.message };
    if (!chainReverted(error)) throw error;
    return answer(await reasonOf(credential, expected));
  }
  seen.transaction = hash;
  const receipt = await receiptWithin(network, hash, confirmationTimeoutMs());
  if (!receipt) return answer("settlement_pending", hash);
  if (receipt.status !== "success") return answer("invalid_exact_evm_transaction_failed", hash);
  seen.receipt = receipt;
  return { success: true, transaction: hash, network };
}
