import { encodePaymentResponseHeader } from "@x402/core/http";
import type { Network } from "@x402/core/types";
import { audit, clock } from "#lib/audit/transact.ts";
import { accrueFees } from "#lib/billing/store.ts";
import { finishCheckout } from "#lib/approvals/decision/redeem-approval.ts";
import type { Tx } from "#lib/db/client.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { log } from "#lib/telemetry/log.ts";
import { useNonceSlotOf } from "#lib/onchain/registry/nonce-slot-store.ts";
import { reservationIdOf } from "#lib/holds/ids.ts";
import { suspendIfBroken } from "#lib/payments/executions/caps.ts";
import {
  authorizationOf,
  reloadExecution,
  updateExecution,
  type AuthorizationRow,
  type ExecutionRow,
  type NewExecution,
} from "#lib/holds/execution-store.ts";
import { captureHold, holdOf, lockMandate, releaseHold, rememberSeller, type Hold } from "#lib/holds/hold-store.ts";
import { unregisteredPayee } from "#lib/payments/unregistered-offer.ts";
import { stepOf, type Finding } from "#lib/payments/executions/settlement-state.ts";
import { paymentHeaderV1, paymentResponseHeader, paymentResponseHeaderV1 } from "#lib/x402/requirements.ts";
import { networkOfChain } from "#lib/x402/version-1.ts";
import type { SettlementStatus } from "#lib/vocabulary.ts";

const ASK_AGAIN_MS = 1_000;
const ASK_AGAIN_MAX_MS = 60_000;
const EAGER_ATTEMPTS = 5;
/** A payment that is n days old is checked every n minutes, and a younger one at least every minute. */
export const CHECKS_A_DAY = 1_440;

/**
 * Sellers can settle within seconds, so the first checks are a second apart; then the interval doubles, up to a minute. Payments
 * may be valid for years, so after a day the interval is a share of the payment's age.
 */
export function nextCheck({ attempts, createdAt }: Pick<ExecutionRow, "attempts" | "createdAt">, now: Date): Date {
  const early = Math.min(ASK_AGAIN_MAX_MS, ASK_AGAIN_MS * 2 ** Math.max(0, Math.min(10, attempts - EAGER_ATTEMPTS)));
  return new Date(now.getTime() + Math.max(early, (now.getTime() - createdAt.getTime()) / CHECKS_A_DAY));
}

type Resolution = {
  readonly tx: Tx;
  readonly execution: ExecutionRow;
  readonly authorization: AuthorizationRow;
  readonly hold: Hold | null;
  readonly now: Date;
};

/** Only here is a hold captured, or a hold with the status submitted released. */
export async function resolveExecution(tx: Tx, executionId: string, mandateId: string, finding: Finding): Promise<ExecutionRow> {
  await lockMandate(tx, mandateId);
  const [execution, now] = await Promise.all([reloadExecution(tx, executionId), clock(tx)]);
  if (execution.settlementStatus === "settled" && (await isCaptured(tx, execution)))
    return execution.nextCheckAt === null ? execution : updateExecution(tx, executionId, { nextCheckAt: null });
  const step = stepOf(execution.settlementStatus as SettlementStatus, finding);
  const becomesFinal = finding.kind === "settled" && finding.final !== false && isNotFinal(execution);
  if (!step.changes && !becomesFinal) return stayed(tx, execution, finding, now);
  const [authorization, hold] = await Promise.all([authorizationOf(tx, execution), holdOf(tx, execution.authorizationId)]);
  const resolution: Resolution = { tx, execution, authorization, hold, now };
  if (becomesFinal) {
    note(resolution, "payment.finalized", { settlementReference: execution.settlementReference });
    return finalize(resolution);
  }
  const updated = await changed(resolution, finding);
  metrics().executions.inc({ status: updated.settlementStatus });
  return updated;
}

const isCaptured = async (tx: Tx, { authorizationId }: ExecutionRow): Promise<boolean> =>
  (await holdOf(tx, authorizationId))?.status === "captured";

/** Whether a reorganization is still looked for. */
export const isNotFinal = ({ settlementStatus, nextCheckAt }: ExecutionRow): boolean =>
  settlementStatus === "settled" && nextCheckAt !== null;

function changed(resolution: Resolution, finding: Finding): Promise<ExecutionRow> {
  if (finding.kind === "settled") return settled(resolution, finding.transaction, finding.final !== false);
  return finding.kind === "forgotten" ? forgotten(resolution, finding.back) : unsettled(resolution, finding);
}

async function stayed(tx: Tx, execution: ExecutionRow, finding: Finding, now: Date): Promise<ExecutionRow> {
  if (isNotFinal(execution)) return updateExecution(tx, execution.executionId, { nextCheckAt: nextCheck(execution, now) });
  if (finding.kind === "settled" || finding.kind === "failed" || execution.resolvedAt) return execution;
  return updateExecution(tx, execution.executionId, {
    nextCheckAt: nextCheck(execution, now),
    ...("transaction" in finding && { settlementReference: finding.transaction }),
  });
}

type ExecutionEvent = { readonly type: string; readonly actorId: string; readonly metadata?: Readonly<Record<string, unknown>> };

export function auditExecution(
  tx: Tx,
  execution: ExecutionRow,
  { type, actorId, metadata = {} }: ExecutionEvent,
  now: Date,
): void {
  const { executionId, authorizationId, mandateId, organizationId, subjectId } = execution;
  const event = { type, actorId, organizationId, subjectId, entityType: "execution", entityId: executionId };
  audit(tx, { ...event, metadata: { authorizationId, mandateId, ...metadata } }, now);
}

const note = ({ tx, execution, now }: Resolution, type: string, metadata: ExecutionEvent["metadata"] = {}): void =>
  auditExecution(tx, execution, { type, actorId: "service", metadata }, now);

/** Until the transfer is final, the hold (reserved amount) keeps its status and no fee is charged. */
async function settled(resolution: Resolution, transaction: string, final: boolean): Promise<ExecutionRow> {
  const { tx, execution, authorization, now } = resolution;
  note(resolution, "payment.settled", { settlementReference: transaction });
  metrics().settlementLag.observe((now.getTime() - execution.createdAt.getTime()) / 1000);
  const headers = { ...execution.credentialHeaders, ...receiptHeaders(execution, authorization.chain, transaction) };
  const change = {
    settlementStatus: "settled",
    settlementReference: transaction,
    failureDetail: null,
    failureMetadata: null,
    resolvedAt: now,
    ...(execution.settlementMode !== "offchainAuthorized" && { credentialHeaders: headers }),
  };
  if (final) return finalize(resolution, change);
  return updateExecution(tx, execution.executionId, { ...change, nextCheckAt: nextCheck(execution, now) });
}

function receiptHeaders({ payer, credentialHeaders }: ExecutionRow, chain: string, transaction: string): Record<string, string> {
  const receiptOn = (network: string) =>
    encodePaymentResponseHeader({ success: true, transaction, network: network as Network, ...(payer !== null && { payer }) });
  const network = credentialHeaders?.[paymentHeaderV1] === undefined ? undefined : networkOfChain(chain);
  return {
    [paymentResponseHeader]: receiptOn(chain),
    ...(network !== undefined && { [paymentResponseHeaderV1]: receiptOn(network) }),
  };
}

async function finalize(resolution: Resolution, change: Partial<NewExecution> = {}): Promise<ExecutionRow> {
  const { tx, execution, authorization, hold, now } = resolution;
  if (!hold) throw new Error("An execution has no hold.");
  const { domain } = authorization.intent.seller;
  const [updated, { overrun }] = await Promise.all([
    updateExecution(tx, execution.executionId, { ...change, credential: null, nextCheckAt: null }),
    captureHold(tx, hold),
    finishCheckout(tx, execution.authorizationId, "settled", now),
    useNonceSlotOf(tx, execution.authorizationId),
    rememberSeller(tx, execution.mandateId, authorization.sellerId ?? unregisteredPayee(domain, authorization.payTo)),
    accrueFees(tx, authorization),
  ]);
  if (overrun > 0n) await bookOverrun(resolution, hold);
  return updated;
}

/** The hold (reserved amount) needs no change, because a hold is captured only when the transfer is final. */
async function forgotten(resolution: Resolution, back: "processing" | "pending"): Promise<ExecutionRow> {
  const { tx, execution, now } = resolution;
  const { executionId, chain, settlementReference } = execution;
  log().error({ executionId, chain, settlementReference }, "A reorganization took back a settled payment");
  note(resolution, "payment.reorganized", { settlementReference });
  return updateExecution(tx, executionId, {
    settlementStatus: back,
    settlementReference: null,
    resolvedAt: null,
    nextCheckAt: new Date(now.getTime() + ASK_AGAIN_MS),
  });
}

/** The payment counts even if it exceeds an amount limit; an active mandate is then suspended. */
async function bookOverrun(resolution: Resolution, hold: Hold): Promise<void> {
  const { tx, execution, now } = resolution;
  const { executionId, mandateId } = execution;
  note(resolution, "reservation.overrun", { reservationId: reservationIdOf(hold), amountAtomic: hold.amount.toString() });
  const suspended = await suspendIfBroken(tx, execution, "A settled payment exceeds a limit of the mandate.", now);
  log().error({ executionId, mandateId, suspended }, "A payment was settled after its hold had been released");
}

async function unsettled(
  resolution: Resolution,
  finding: Exclude<Finding, { kind: "settled" | "forgotten" }>,
): Promise<ExecutionRow> {
  const { tx, execution, hold, now } = resolution;
  if (finding.kind !== "failed") {
    note(resolution, "payment.unknown");
    const { detail = null, transaction } = finding.kind === "unknown" ? finding : {};
    return updateExecution(tx, execution.executionId, {
      settlementStatus: "unknown",
      failureDetail: detail,
      nextCheckAt: nextCheck(execution, now),
      ...(transaction !== undefined && { settlementReference: transaction }),
    });
  }
  if (hold?.status === "submitted") await releaseHold(tx, hold, "released");
  await finishCheckout(tx, execution.authorizationId, "failed", now);
  const { code, detail, metadata } = finding.failure;
  note(resolution, "payment.failed", { failureCode: code });
  return updateExecution(tx, execution.executionId, {
    settlementStatus: "failed",
    failureCode: code,
    failureDetail: detail,
    failureMetadata: metadata ?? null,
    credential: null,
    nextCheckAt: null,
    resolvedAt: now,
  });
}
