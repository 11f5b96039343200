import { clock, transactAgain } from "#lib/audit/transact.ts";
import {
  askedUnder,
  findApproved,
  lockApproved,
  redeemApproval,
  requireSamePayment,
  startCheckout,
  type ApprovedCheckout,
} from "#lib/approvals/decision/redeem-approval.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { inTurn } from "#lib/db/turns.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { LostSlot } from "#lib/command/idempotency.ts";
import type { Caller, StoredReply } from "#lib/http/operation.ts";
import { newId } from "#lib/ids.ts";
import { answerExecution, earlierReply, type ExecutionRequest } from "#lib/execute/execution-replies.ts";
import { changedMandate, requireExecutable, requireRights } from "#lib/holds/execution-rules.ts";
import {
  callerIsLive,
  hasLiveExecution,
  insertExecution,
  sellerStateOf,
  type AuthorizationRow,
  type ExecutionRow,
} from "#lib/holds/execution-store.ts";
import { holdOf, lockMandate, submitHold, type Hold, type MandateRow } from "#lib/holds/hold-store.ts";
import { forbiddenNow } from "#lib/holds/recheck-payments.ts";
import { approvalRequestOf } from "#lib/payments/present-execution.ts";
import { auditExecution } from "#lib/payments/executions/resolve-execution.ts";
import { isProblem, type Problem, type ProblemCode } from "#lib/problem.ts";
import type { Failure } from "#lib/x402/failure.ts";

type Change = Parameters<typeof insertExecution>[1];
type OwnColumns =
  | "executionId"
  | "authorizationId"
  | "organizationId"
  | "environment"
  | "mandateId"
  | "subjectId"
  | "slot"
  | "fingerprint"
  | "createdAt";
type State = Omit<Partial<Change>, OwnColumns> & Pick<Change, "settlementStatus">;
/** Columns of an execution that are known before the payment is bound to its authorization. Failed executions have them too. */
export type Means = Pick<Change, "settlementMode" | "facilitatorUrl" | "credentialHash" | "payer">;

export type BindResult =
  | { readonly ok: true; readonly executionId: string; readonly state: State }
  | { readonly ok: false; readonly failure: Failure };

export const copiedColumns = ({ sellerOrganizationId, sellerId, resourceId, amount, asset, chain }: AuthorizationRow) => ({
  sellerOrganizationId,
  sellerId,
  resourceId,
  amount,
  asset,
  chain,
});

export type MandateLock = { readonly mandate: MandateRow | null; readonly now: Date };

export type Execute = ExecutionRequest & {
  readonly caller: Caller;
  readonly authorization: AuthorizationRow;
  readonly means: Means;
  /** Binds the payment to its authorization, so that it pays nothing else. Called while the mandate is locked. */
  bind(tx: Tx, locked: MandateLock): Promise<BindResult>;
  /** If the execution is refused, may record an earlier settlement, whose money may have moved. Null if none is recorded. */
  adopt?(tx: Tx, locked: MandateLock): Promise<BindResult | null>;
};

type OpenState = {
  readonly approved: ApprovedCheckout | null;
  readonly hold: Hold | null;
  readonly isLive: boolean;
  readonly now: Date;
};

async function readState(db: Database | Tx, { authorizationId }: AuthorizationRow): Promise<OpenState> {
  // Read the hold before the approval: ending an approval releases the hold, and the answer must name the person's decision.
  const [hold, isLive] = await Promise.all([holdOf(db, authorizationId), hasLiveExecution(db, authorizationId)]);
  const [approved, now] = await Promise.all([findApproved(db, authorizationId), clock(db)]);
  return { approved, hold, isLive, now };
}

/** Call lockMandate first: mandates are locked before checkouts, and the hold changes only under the mandate's lock. */
async function lockState(tx: Tx, { authorizationId }: AuthorizationRow): Promise<OpenState> {
  // The connection runs these statements in this order, so the time is read after the checkout is locked.
  const [approved, hold, isLive, now] = await Promise.all([
    lockApproved(tx, authorizationId),
    holdOf(tx, authorizationId),
    hasLiveExecution(tx, authorizationId),
    clock(tx),
  ]);
  return { approved, hold, isLive, now };
}

/** Returns the database's time. @throws Problem as requireExecutable */
export async function requireOpenPayment(
  db: Database | Tx,
  authorization: AuthorizationRow,
  subjectId: string,
  known?: OpenState,
): Promise<Date> {
  const state = known ?? (await readState(db, authorization));
  const { approved, hold, isLive, now } = state;
  const asking = approvalRequestOf(authorization);
  const askedBy = approved || asking.href === undefined ? null : await askedUnder(db, authorization, asking.href);
  requireExecutable({ subjectId, authorization, hold, approved, asking, askedBy, hasLiveExecution: isLive }, now);
  return now;
}

export type Begun = { readonly reply: StoredReply } | { readonly execution: ExecutionRow };

/** If another call with the same idempotency key has begun the execution, returns the answer about that execution. */
export async function firstOrTwin(execute: Execute): Promise<Begun> {
  try {
    return await inTurn(execute.authorization.mandateId, () => transactAgain((tx) => begin(tx, execute)));
  } catch (error) {
    const twin = error instanceof LostSlot || isProblem(error) ? await earlierReply(execute.authorization, execute) : null;
    if (twin) return { reply: twin };
    throw error;
  }
}

type Rights = Pick<Execute, "caller" | "authorization"> & { readonly mandate: MandateRow | null };

const rightsOf = (tx: Tx, { caller, authorization }: Pick<Rights, "caller" | "authorization">) =>
  Promise.all([callerIsLive(tx, caller), sellerStateOf(tx, authorization)]);

/** Call it after enterGate, which locks revocations out, and while the mandate is locked. @throws Problem */
export async function requireRightsNow(
  tx: Tx,
  { mandate, caller, authorization }: Rights,
  known?: Awaited<ReturnType<typeof rightsOf>>,
): Promise<void> {
  const [isLive, seller] = known ?? (await rightsOf(tx, { caller, authorization }));
  requireRights({ mandate, subjectId: caller.subjectId, callerIsLive: isLive, seller });
  const forbidden = mandate && (await forbiddenNow(tx, mandate, authorization));
  if (forbidden) throw changedMandate(forbidden);
}

type ApprovalLock = MandateLock & { readonly approved: ApprovedCheckout | null };

async function redeemAndBind(tx: Tx, execute: Execute, { mandate, now, approved }: ApprovalLock): Promise<BindResult> {
  const { authorization, subjectId: actorId, requestId } = execute;
  if (approved?.approval?.status === "pending") {
    requireSamePayment(approved.approval, authorization);
    await redeemApproval(tx, approved.approval, { actorId, requestId, payableUntil: authorization.expiresAt }, now);
  }
  return execute.bind(tx, { mandate, now });
}

/** In spite of these problems, an earlier settlement may be recorded as the execution, because its money may have moved. */
const late: ReadonlySet<ProblemCode> = new Set([
  "authorization_expired",
  "authorization_consumed",
  "approval_revoked",
  "mandate_revoked",
  "mandate_not_active",
  "policy_denied",
  "emergency_stop",
]);

async function refusalOf(check: () => Promise<void>): Promise<Problem | null> {
  try {
    await check();
    return null;
  } catch (error) {
    if (isProblem(error) && late.has(error.code)) return error;
    throw error;
  }
}

type Refusal = MandateLock & Pick<OpenState, "hold" | "isLive"> & { readonly refusal: Problem };

/** Records an earlier settlement although the execution is refused. @throws Problem the refusal, if nothing can be recorded */
async function adoptLate(
  tx: Tx,
  { adopt, authorization }: Execute,
  { mandate, now, hold, isLive, refusal }: Refusal,
): Promise<BindResult> {
  const isFree = hold !== null && ["held", "expired", "released"].includes(hold.status);
  const counts = !isFree || authorization.outcome !== "allow" || isLive;
  const adopted = counts ? null : await adopt?.(tx, { mandate, now });
  if (!adopted) throw refusal;
  return adopted;
}

/** Transaction 1 of executePayment. Reads again what can change, after it has locked out revocations and locked the mandate. */
async function begin(tx: Tx, execute: Execute): Promise<Begun> {
  const { authorization, subjectId, caller } = execute;
  await enterGate(tx);
  const mandate = await lockMandate(tx, authorization.mandateId);
  const [state, rights] = await Promise.all([lockState(tx, authorization), rightsOf(tx, execute)]);
  const { approved, hold, isLive, now } = state;
  const refusal = await refusalOf(async () => {
    await requireOpenPayment(tx, authorization, subjectId, state);
    await requireRightsNow(tx, { mandate, caller, authorization }, rights);
  });
  const bound = refusal
    ? await adoptLate(tx, execute, { mandate, now, hold, isLive, refusal })
    : await redeemAndBind(tx, execute, { mandate, now, approved });
  if (!bound.ok) return recordFailure(tx, execute, bound.failure, now);
  const [execution] = await Promise.all([
    insert(tx, execute, bound.executionId, bound.state, now),
    hold?.status === "held" && submitHold(tx, hold),
    approved && !refusal && startCheckout(tx, approved.checkout, now),
  ]);
  auditExecution(tx, execution, { type: "payment.submitted", actorId: execution.subjectId }, now);
  if (execution.settlementStatus === "processing") return { execution };
  return { reply: await answerExecution(tx, execution, authorization, execute) };
}

/** No payment was submitted, so the amount stays reserved and the agent can try again. */
async function recordFailure(tx: Tx, execute: Execute, { code, detail, metadata }: Failure, now: Date): Promise<Begun> {
  const state: State = {
    ...execute.means,
    settlementStatus: "failed",
    failureCode: code,
    failureDetail: detail,
    failureMetadata: metadata ?? null,
    resolvedAt: now,
  };
  const execution = await insert(tx, execute, newId("execution"), state, now);
  const event = { type: "payment.failed", actorId: execution.subjectId, metadata: { failureCode: code } };
  auditExecution(tx, execution, event, now);
  return { reply: await answerExecution(tx, execution, execute.authorization, execute) };
}

async function insert(
  tx: Tx,
  { authorization, idempotency, subjectId, means }: Execute,
  executionId: string,
  state: State,
  now: Date,
): Promise<ExecutionRow> {
  const { authorizationId, organizationId, environment, mandateId } = authorization;
  const execution = await insertExecution(tx, {
    executionId,
    authorizationId,
    organizationId,
    environment,
    mandateId,
    subjectId,
    ...means,
    slot: idempotency.slot,
    fingerprint: idempotency.fingerprint,
    createdAt: now,
    ...state,
  });
  if (!execution) throw new LostSlot();
  return execution;
}
