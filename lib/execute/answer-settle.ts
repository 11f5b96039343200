import type { SettleResponse } from "@x402/core/types";
import { clock, transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import {
  callerIsLive,
  reloadExecution,
  updateExecution,
  type AuthorizationRow,
  type ExecutionRow,
} from "#lib/holds/execution-store.ts";
import { auditExecution, resolveExecution } from "#lib/payments/executions/resolve-execution.ts";
import { admitsNow } from "#lib/holds/recheck-payments.ts";
import type { SettlementRequest } from "#lib/execute/settlement-request.ts";
import { mayBroadcast } from "#lib/onchain/broadcast-caps.ts";
import { leaseMs, patience } from "#lib/settlement/limits.ts";
import { inPlace } from "#lib/execute/settle-waits.ts";
import { settlePlain, settlePlainAgain } from "#lib/execute/settle-plain.ts";
import { pending, refused, succeeded, type Seller } from "#lib/execute/settle-replies.ts";
import { handOverExecution } from "#lib/settlement/store.ts";
import { submit } from "#lib/settlement/submit.ts";

const WAIT_MS = 30_000;
const ASK_EVERY_MS = 250;

/** Settles a payment for a seller's server, or answers about the settlement of it that has begun. */
export async function answerSettle(asked: SettlementRequest, seller: Seller): Promise<SettleResponse> {
  const { match } = asked;
  if (match.kind === "execution") return settleExecution(asked, match.execution, match.authorization, seller);
  if (match.kind === "plain") return settlePlainAgain(asked, match.settlement, seller);
  return settlePlain(asked, seller);
}

async function settleExecution(
  asked: SettlementRequest,
  execution: ExecutionRow,
  authorization: AuthorizationRow,
  seller: Seller,
): Promise<SettleResponse> {
  const taken = execution.settlementStatus === "pending" ? await takeOver(execution, authorization, seller) : "underWay";
  if (taken === "refused")
    return refused(asked, "settlement_rejected", "The payment's mandate or its seller's allowance does not admit it now.");
  if (taken === "taken") {
    const finding = await submit({ ...execution, facilitatorUrl: null }, authorization);
    await transact(async (tx) => resolveExecution(tx, execution.executionId, execution.mandateId, finding));
  }
  const row = await finalState(execution.executionId, seller);
  if (row.settlementStatus === "failed") return refused(asked, "settlement_rejected", row.failureDetail ?? undefined);
  if (row.settlementStatus !== "settled" || row.settlementReference === null) return pending(asked, row.settlementReference);
  const first = await database().transaction((tx) => handOverExecution(tx, row.executionId));
  return first ? succeeded(asked, row.settlementReference) : refused(asked, "nonce_already_used");
}

/** The service only watched the chain for this payment before. Only one request gets "taken" and settles the payment. */
const takeOver = (
  execution: ExecutionRow,
  authorization: AuthorizationRow,
  seller: Seller,
): Promise<"taken" | "refused" | "underWay"> =>
  transact(async (tx) => {
    await enterGate(tx);
    // admitsNow locks the mandate, so the status that is read next cannot change until this transaction ends.
    const admitted = await admitsNow(tx, execution, authorization);
    const { settlementStatus } = await reloadExecution(tx, execution.executionId);
    if (settlementStatus !== "pending") return "underWay";
    if (!admitted || !(await callerIsLive(tx, seller)) || !(await mayBroadcast(tx, seller.organizationId))) return "refused";
    const now = await clock(tx);
    await updateExecution(tx, execution.executionId, {
      settlementStatus: "processing",
      nextCheckAt: new Date(now.getTime() + leaseMs()),
      // The attempts until now only looked at the chain; reconcile limits those that submit the payment.
      attempts: 0,
    });
    // The event is in the buyer's audit log, so it names the seller by the id that buyers know.
    auditExecution(tx, execution, { type: "payment.processing", actorId: execution.sellerId ?? "seller" }, now);
    return "taken";
  });

const stateOf = (executionId: string): Promise<ExecutionRow> => database().transaction((tx) => reloadExecution(tx, executionId));

/** Returns the current state if the outcome takes too long, or if too many requests wait, of this organization or in total. */
async function finalState(executionId: string, { organizationId }: Seller): Promise<ExecutionRow> {
  const row = await stateOf(executionId);
  if (row.resolvedAt !== null) return row;
  return (await inPlace(organizationId, () => waitForEnd(executionId)))?.value ?? row;
}

async function waitForEnd(executionId: string): Promise<ExecutionRow> {
  const until = performance.now() + patience(WAIT_MS);
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    const row = await stateOf(executionId);
    if (row.resolvedAt !== null || performance.now() >= until) return row;
  }
}
