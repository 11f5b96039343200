import { clock, transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { log } from "#lib/telemetry/log.ts";
import { chainFailure, isChainError } from "#lib/chains/client.ts";
import { finalBlock, readEvidence, type Evidence } from "#lib/onchain/evidence.ts";
import { authorizationOf, type AuthorizationRow, type ExecutionRow } from "#lib/holds/execution-store.ts";
import { readModuleEvidence } from "#lib/onchain/registry/payment-module.ts";
import { isNotFinal, resolveExecution } from "#lib/payments/executions/resolve-execution.ts";
import { admitsNow } from "#lib/holds/recheck-payments.ts";
import { investigateModule, modulePaymentOf } from "#lib/settlement/follow-module.ts";
import { leaseMs } from "#lib/settlement/limits.ts";
import type { Finding } from "#lib/payments/executions/settlement-state.ts";
import { leaseChecks } from "#lib/settlement/store.ts";
import { settledBy, spentFinding, submit, transferOf } from "#lib/settlement/submit.ts";

const BATCH = 32;
const AT_ONCE = 8;
const RESUBMISSIONS_MAX = 12;
/** With fewer milliseconds left, a signed payment may expire before its transaction is mined. */
const RESUBMIT_MARGIN_MS = 10_000;

/** Returns the number of executions that it tried to reconcile. */
export async function reconcile(): Promise<number> {
  const due = await database().transaction((tx) => leaseChecks(tx, BATCH, leaseMs()));
  const queue = [...due];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) await reconcileOne(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return due.length;
}

async function reconcileOne(execution: ExecutionRow): Promise<void> {
  try {
    const authorization = await authorizationOf(database(), execution);
    const finding = await investigate(execution, authorization);
    await transact(async (tx) => resolveExecution(tx, execution.executionId, execution.mandateId, finding));
  } catch (error) {
    const cause = isChainError(error) ? { reason: chainFailure(error) } : { error };
    log().error({ executionId: execution.executionId, ...cause }, "An execution could not be reconciled; it is asked for again");
  }
}

/** May submit the same signed payment again if the chain shows no use of it yet. */
export async function investigate(execution: ExecutionRow, authorization: AuthorizationRow): Promise<Finding> {
  if (isNotFinal(execution)) return investigateSettled(execution, authorization);
  if (execution.settlementMode === "smartAccount") return investigateModule(execution, authorization);
  const now = await clock(database());
  const evidence = await readEvidence(transferOf(execution, authorization), now);
  if (evidence.kind === "transferred") return settledBy(transferOf(execution, authorization), evidence.transaction);
  if (evidence.kind === "spent") return spentFinding(evidence);
  if (evidence.kind === "expired") {
    return {
      kind: "failed",
      failure: {
        code: "settlement_rejected",
        detail: "The credential expired without having been settled. Authorize the payment again.",
      },
    };
  }
  if (execution.settlementStatus === "pending" || execution.settlementReference !== null) return { kind: "waiting" };
  if (await mayResubmit(execution, authorization, now)) return submit(execution, authorization);
  return { kind: "unknown", detail: "The credential was submitted and its outcome is not known yet." };
}

/** A settled payment that is not final may become final, need more blocks, or be removed by a reorganization. */
async function investigateSettled(execution: ExecutionRow, authorization: AuthorizationRow): Promise<Finding> {
  const now = await clock(database());
  const read = (at?: bigint): Promise<Evidence> =>
    execution.settlementMode === "smartAccount"
      ? readModuleEvidence(modulePaymentOf(execution, authorization), now, at)
      : readEvidence(transferOf(execution, authorization), now, at);
  const final = await read(await finalBlock(authorization.chain));
  if (final.kind === "transferred") return { kind: "settled", transaction: final.transaction };
  if ((await read()).kind === "transferred") return { kind: "waiting" };
  return { kind: "forgotten", back: execution.settlementMode === "offchainAuthorized" ? "pending" : "processing" };
}

async function mayResubmit(execution: ExecutionRow, authorization: AuthorizationRow, now: Date): Promise<boolean> {
  const left = (execution.validBefore?.getTime() ?? 0) - now.getTime();
  if (execution.attempts > RESUBMISSIONS_MAX || left < RESUBMIT_MARGIN_MS) return false;
  return stillAdmits(execution, authorization);
}

/** Call this right before the payment is submitted: the mandate may have been revoked since the execution was stored. */
export const stillAdmits = (execution: ExecutionRow, authorization: AuthorizationRow): Promise<boolean> =>
  database().transaction(async (tx) => {
    await enterGate(tx);
    return admitsNow(tx, execution, authorization);
  });
