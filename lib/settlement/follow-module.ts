import type { Hex } from "viem";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { log } from "#lib/telemetry/log.ts";
import { chainFailure } from "#lib/chains/client.ts";
import { isFinalAtOnce, type Evidence } from "#lib/onchain/evidence.ts";
import { readModuleEvidence, type ModulePayment } from "#lib/onchain/registry/payment-module.ts";
import { findRelayFor } from "#lib/onchain/relay-store.ts";
import { relayNow } from "#lib/onchain/relay/queue-relay.ts";
import type { AuthorizationRow, ExecutionRow } from "#lib/holds/execution-store.ts";
import { expectedPayment } from "#lib/payments/executions/verify-credential.ts";
import { confirmationTimeoutMs } from "#lib/settlement/limits.ts";
import type { Finding } from "#lib/payments/executions/settlement-state.ts";

const ASK_EVERY_MS = 400;

/** An execution by the payment module stores these fields as its credential until the outcome is final. */
type RegistryEntry = { readonly registry: Hex; readonly onChainId: Hex };

export function modulePaymentOf(execution: ExecutionRow, authorization: AuthorizationRow): ModulePayment {
  const { asset, amount, payTo } = expectedPayment(authorization);
  const { payer, nonce, validBefore, fromBlock } = execution;
  if (payer === null || nonce === null || validBefore === null) throw new Error("An execution has no payment of the module.");
  return {
    ...(execution.credential as RegistryEntry),
    chain: asset.chain,
    account: payer as Hex,
    token: asset.tokenAddress,
    payee: payTo,
    value: amount,
    paymentId: nonce as Hex,
    validBefore,
    fromBlock: fromBlock ?? 0n,
  };
}

/** Call this with no database transaction open, because it waits for the chain. */
export async function submitModule(execution: ExecutionRow, authorization: AuthorizationRow): Promise<Finding> {
  const until = performance.now() + confirmationTimeoutMs();
  const relay = await findRelayFor(database(), "payMandate", execution.executionId);
  if (relay) await relayNow(relay.relayId, { timeoutMs: confirmationTimeoutMs() });
  for (;;) {
    const finding = await look(execution, authorization);
    if (finding.kind === "settled" || finding.kind === "failed" || performance.now() >= until) return finding;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
}

const look = async (execution: ExecutionRow, authorization: AuthorizationRow): Promise<Finding> => {
  try {
    return await investigateModule(execution, authorization);
  } catch (error) {
    log().warn({ executionId: execution.executionId, reason: chainFailure(error) }, "The chain does not answer");
    return { kind: "waiting" };
  }
};

/**
 * Before the deadline, a reverted transaction proves nothing, because anyone who saw it could send the same call again.
 * @throws if the chain does not answer
 */
export async function investigateModule(execution: ExecutionRow, authorization: AuthorizationRow): Promise<Finding> {
  const evidence = await readModuleEvidence(modulePaymentOf(execution, authorization), await clock(database()));
  if (evidence.kind === "transferred")
    return { kind: "settled", transaction: evidence.transaction, final: isFinalAtOnce(authorization.chain) };
  const relay = await findRelayFor(database(), "payMandate", execution.executionId);
  const neverSent = relay?.status === "abandoned" && relay.hash === null && relay.earlierHashes.length === 0;
  if (evidence.kind !== "unused" || neverSent) return { kind: "failed", failure: failureOf(evidence, relay?.failure ?? null) };
  return relay?.hash ? { kind: "broadcast", transaction: relay.hash } : { kind: "waiting" };
}

function failureOf(evidence: Evidence, reason: string | null) {
  if (evidence.kind === "spent")
    return { code: "nonce_already_used", detail: "The chain counted the payment, and nothing was paid to the seller." } as const;
  const detail = reason ?? "The transaction was not mined before the payment's deadline.";
  return { code: "settlement_rejected", detail: `${detail} Authorize the payment again.` } as const;
}
