import { setTimeout as pause } from "node:timers/promises";
import type { PaymentPayload, PaymentRequirements, SettleResponse } from "@x402/core/types";
import type { TransactionReceipt, Hex } from "viem";
import { BYTES32 } from "#lib/evm.ts";
import { log } from "#lib/telemetry/log.ts";
import { chainOf } from "#lib/chains/chains.ts";
import { blockTimeMs, lookEveryMs } from "#lib/chains/block-time.ts";
import { chainFailure, publicClient } from "#lib/chains/client.ts";
import {
  finalBlock,
  isFinalAtOnce,
  judgeReceipt,
  readEvidence,
  type AuthorizedTransfer,
  type Evidence,
} from "#lib/onchain/evidence.ts";
import { balanceOf } from "#lib/onchain/token.ts";
import type { AuthorizationRow, ExecutionRow } from "#lib/holds/execution-store.ts";
import { expectedPayment } from "#lib/payments/executions/verify-credential.ts";
import { facilitatorFor, type Facilitator, type Progress } from "#lib/settlement/facilitator.ts";
import { submitModule } from "#lib/settlement/follow-module.ts";
import { facilitatorTimeoutMs, patience } from "#lib/settlement/limits.ts";
import type { Finding } from "#lib/payments/executions/settlement-state.ts";
import { atMost } from "#lib/time.ts";
import { failureOf } from "#lib/x402/failure.ts";
import { requirementsOf } from "#lib/x402/requirements.ts";

/** Milliseconds for which a request waits for the confirmations of a block; after that, the reconciler continues. */
const confirmMs = async (chain: string): Promise<number> =>
  2_000 + (chainOf(chain)?.confirmations ?? 0) * (await blockTimeMs(chain));
/** Milliseconds for the 0.4 of the facilitator's timeout that confirmationTimeoutMs leaves, and for the confirmations. */
export const settlingMs = async (chain: string): Promise<number> => facilitatorTimeoutMs() * 0.4 + (await confirmMs(chain));

/** Even at the end of a request, each read of the chain gets this time; a healthy chain answers faster. */
const LOOK_MS_MIN = 1_000;
const LOOK_MS_MAX = 20_000;

export function transferOf(execution: ExecutionRow, authorization: AuthorizationRow): AuthorizedTransfer {
  const { asset, amount, payTo } = expectedPayment(authorization);
  const { payer, nonce, validBefore, fromBlock } = execution;
  if (payer === null || nonce === null || validBefore === null) throw new Error("An execution has no credential.");
  return {
    chain: asset.chain,
    tokenAddress: asset.tokenAddress,
    payer: payer as Hex,
    payTo,
    amount,
    nonce: nonce as Hex,
    validBefore,
    fromBlock: fromBlock ?? 0n,
  };
}

export const submit = (execution: ExecutionRow, authorization: AuthorizationRow): Promise<Finding> =>
  execution.settlementMode === "smartAccount"
    ? submitModule(execution, authorization)
    : settleAndConfirm(
        facilitatorFor(execution.facilitatorUrl),
        transferOf(execution, authorization),
        execution.credential as PaymentPayload,
        requirementsOf(expectedPayment(authorization)),
        { held: execution.settlementMode === "facilitatorSettled" ? "here" : "shown" },
      );

type Settling = {
  readonly atReceipt?: boolean;
  /** Whether an amount is held for the payment, and whether its seller has the signed payment too. */
  readonly held?: "no" | "here" | "shown";
};

/** Call this with no database transaction open: it asks the facilitator and the chain. */
export async function settleAndConfirm(
  facilitator: Facilitator,
  transfer: AuthorizedTransfer,
  payload: PaymentPayload,
  requirements: PaymentRequirements,
  { atReceipt = false, held = "no" }: Settling = {},
): Promise<Finding> {
  const seen: Progress = { transaction: null, receipt: null };
  const answer = await ask(facilitator, payload, requirements, seen);
  if (answer === "late" && facilitator.trusted) return confirmLate(transfer, seen.transaction);
  if (answer === "late" || !answer) return confirmUnanswered(transfer);
  const transaction = BYTES32.test(answer.transaction) ? answer.transaction.toLowerCase() : null;
  const atOnce = answer.success && seen.receipt && findingOf(seen.receipt, transfer, atReceipt);
  if (atOnce) return atOnce;
  if (answer.success) return confirm(transfer, transaction, facilitator);
  if (answer.errorReason === "settlement_pending" && transaction) return waitOn(transfer, transaction, facilitator);
  return judgeRefusal(transfer, answer, transaction, facilitator, held);
}

/** Null if the receipt does not show the transfer, or if confirmations are needed and `atReceipt` is false. */
function findingOf(receipt: TransactionReceipt, transfer: AuthorizedTransfer, atReceipt: boolean): Finding | null {
  const evidence = judgeReceipt(receipt, transfer);
  if (evidence.kind !== "transferred") return null;
  const { transaction } = evidence;
  if (chainOf(transfer.chain)?.confirmations === 0) return settledBy(transfer, transaction);
  return atReceipt ? { kind: "broadcast", transaction, received: true } : null;
}

/** "late" after the timeout; null if the outcome is unknown, for example after a broken connection. */
async function ask(
  facilitator: Facilitator,
  payload: PaymentPayload,
  requirements: PaymentRequirements,
  seen: Progress,
): Promise<SettleResponse | "late" | null> {
  const answer = facilitator.settle(payload, requirements, seen).catch((error: unknown) => {
    log().warn({ reason: chainFailure(error) }, "A facilitator gave no usable answer");
    return refusalIn(error);
  });
  return atMost(answer, patience(facilitatorTimeoutMs()), "late" as const);
}

/** The x402 client throws a SettleError if a facilitator refuses with an error status. Null for any other error. */
function refusalIn(error: unknown): SettleResponse | null {
  if (!(error instanceof Error && error.name === "SettleError" && "errorReason" in error)) return null;
  const { errorReason, transaction } = error as unknown as { errorReason?: unknown; transaction?: unknown };
  if (typeof errorReason !== "string") return null;
  return { success: false, errorReason, transaction: typeof transaction === "string" ? transaction : "", network: "eip155:0" };
}

/** Null if the chain does not answer in time. */
export function look(transfer: AuthorizedTransfer): Promise<Evidence | null> {
  const evidence = readEvidence(transfer, new Date()).catch((error: unknown) => {
    log().warn({ chain: transfer.chain, reason: chainFailure(error) }, "The chain does not answer");
    return null;
  });
  return atMost(evidence, Math.max(LOOK_MS_MIN, patience(LOOK_MS_MAX)), null);
}

/** If a confirmed block is not final, the reconciler checks the transfer again until its block is final. */
export const settledBy = ({ chain }: AuthorizedTransfer, transaction: string): Finding => ({
  kind: "settled",
  transaction,
  final: isFinalAtOnce(chain),
});

export const spentFinding = (evidence: Extract<Evidence, { kind: "spent" }>): Finding => ({
  kind: "failed",
  failure: evidence.canceled
    ? { code: "settlement_rejected", detail: "The payer cancelled the credential on the chain." }
    : { code: "nonce_already_used", detail: "The credential's nonce was used for another transfer." },
});

/** Null if the chain proves in time neither that the transfer is settled nor that it failed. */
export async function evidenceWithin(transfer: AuthorizedTransfer, milliseconds: number): Promise<Finding | null> {
  const until = performance.now() + patience(milliseconds);
  for (;;) {
    const evidence = await look(transfer);
    if (evidence?.kind === "transferred") return settledBy(transfer, evidence.transaction);
    if (evidence?.kind === "spent") return spentFinding(evidence);
    if (performance.now() >= until) return null;
    const waitMs = await lookEveryMs(transfer.chain);
    if (performance.now() + waitMs >= until) return null;
    await pause(waitMs);
  }
}

/** Only the transfer on the chain counts; the facilitator's answer alone proves nothing. */
async function confirm(transfer: AuthorizedTransfer, transaction: string | null, facilitator: Facilitator): Promise<Finding> {
  const final = await evidenceWithin(transfer, await confirmMs(transfer.chain));
  if (final) return final;
  if (facilitator.trusted && transaction) return { kind: "broadcast", transaction };
  return { kind: "unknown", detail: "The facilitator reported a settlement that the chain does not show yet." };
}

/** Waits longer for the service's own transaction, because a standard x402 server repeats its call to /settle only once. */
async function waitOn(transfer: AuthorizedTransfer, transaction: string, facilitator: Facilitator): Promise<Finding> {
  const final = facilitator.trusted ? await evidenceWithin(transfer, await settlingMs(transfer.chain)) : null;
  return final ?? { kind: "broadcast", transaction };
}

/** The service's own facilitator continues to work; `transaction` is the hash that it has sent, null if it has sent none yet. */
async function confirmLate(transfer: AuthorizedTransfer, transaction: string | null): Promise<Finding> {
  const final = await evidenceWithin(transfer, 0);
  return final ?? (transaction === null ? { kind: "waiting" } : { kind: "broadcast", transaction });
}

async function confirmUnanswered(transfer: AuthorizedTransfer): Promise<Finding> {
  const final = await evidenceWithin(transfer, 0);
  const detail = "The credential was submitted and no answer came. Its outcome will be read from the chain.";
  return final ?? { kind: "unknown", detail };
}

/** Whether the payer has the amount now. True if the chain does not answer. */
async function hasEnough({ chain, tokenAddress, payer, amount }: AuthorizedTransfer): Promise<boolean> {
  try {
    return (await balanceOf(chain, tokenAddress, payer)) >= amount;
  } catch {
    return true;
  }
}

/** False if the chain does not answer. Before finality, a reorganization may mine the transaction with another result. */
async function isFinal(chain: string, transaction: string): Promise<boolean> {
  try {
    const [depth, { blockNumber }] = await Promise.all([
      finalBlock(chain),
      publicClient(chain).getTransactionReceipt({ hash: transaction as Hex }),
    ]);
    return blockNumber <= depth;
  } catch {
    return false;
  }
}

/**
 * A refusal proves nothing while somebody else has the signed payment, and can settle it until it expires: an external
 * facilitator, a seller, or anybody after a transaction was reverted, because the chain shows its call.
 */
async function judgeRefusal(
  transfer: AuthorizedTransfer,
  answer: SettleResponse,
  transaction: string | null,
  facilitator: Facilitator,
  held: "no" | "here" | "shown",
): Promise<Finding> {
  const mined = transaction !== null && facilitator.trusted;
  // Read finality first: evidence that was read earlier could miss a transaction that used the same signed payment.
  const final = mined && (await isFinal(transfer.chain, transaction));
  const evidence = await look(transfer);
  if (evidence?.kind === "transferred") return settledBy(transfer, evidence.transaction);
  if (evidence?.kind === "spent") return spentFinding(evidence);
  if (mined && (!final || evidence === null)) return { kind: "broadcast", transaction };
  if (mined && held !== "no" && evidence?.kind === "unused") {
    const detail = "The settling transaction was reverted. The signed payment can still be settled until it expires.";
    return { kind: "unknown", detail, transaction };
  }
  if (mined) {
    const metadata = { transaction, x402Reason: answer.errorReason ?? "" };
    return {
      kind: "failed",
      failure: { code: "transaction_reverted", detail: "The settling transaction was reverted.", metadata },
    };
  }
  const broadcastNothing =
    facilitator.trusted && transaction === null && !/transaction_failed|unexpected/.test(answer.errorReason ?? "unexpected");
  // The payer may have been paid since the refusal; a lack of gas never comes here, because the facilitator then throws NoGas.
  if (broadcastNothing && answer.errorReason === "insufficient_funds" && (await hasEnough(transfer))) {
    log().warn(
      { chain: transfer.chain },
      "A payer lacked funds for its payment, but its balance is now enough or unknown; it is tried again",
    );
    const detail = "The paying wallet did not hold enough of the token at the last try. The service tries again.";
    return { kind: "unknown", detail };
  }
  const named = failureOf(answer.errorReason);
  const failure = facilitator.trusted && answer.errorMessage ? { ...named, detail: answer.errorMessage } : named;
  // The chain shows no use of the nonce yet, but a transaction that waits for its block may use it.
  const onItsWay = failure.code === "nonce_already_used";
  const canBeSettled = held === "shown" && evidence?.kind !== "expired";
  if (broadcastNothing && evidence !== null && !onItsWay && !canBeSettled) return { kind: "failed", failure };
  return { kind: "unknown", detail: "The facilitator refused the credential, which can still be settled until it expires." };
}
