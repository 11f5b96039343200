import { audit, clock, transact } from "#lib/audit/transact.ts";
import {
  askedUnder,
  findApproved,
  lockApproved,
  redeemApproval,
  requireSamePayment,
  startCheckout,
  type Approved,
} from "#lib/commerce/redeem-approval.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { lockTimedOut } from "#lib/db/failure.ts";
import { enterGate } from "#lib/db/gate.ts";
import { inFlight, LostSlot } from "#lib/http/idempotency.ts";
import type { Caller, Handler, StoredReply } from "#lib/http/operation.ts";
import { newId } from "#lib/ids.ts";
import type * as contract from "#lib/payments/contract.ts";
import { answerExecution, earlierReply, type Asked } from "#lib/payments/execution-replies.ts";
import { requireExecutable, requireRights } from "#lib/payments/execution-rules.ts";
import {
  callerIsLive,
  claimCredential,
  findAuthorization,
  hasLiveExecution,
  insertExecution,
  sellerStateOf,
  type AuthorizationRow,
  type ExecutionRow,
} from "#lib/payments/execution-store.ts";
import { holdOf, lockMandate, submitHold, type Hold } from "#lib/payments/hold-store.ts";
import type { PaymentIntent } from "#lib/payments/intent.ts";
import { approvalLink, credentialMissing } from "#lib/payments/present-execution.ts";
import { resolveExecution } from "#lib/payments/resolve-execution.ts";
import { expectedPayment, verifyCredential, type Verified } from "#lib/payments/verify-credential.ts";
import { isProblem, notFound, Problem } from "#lib/problem.ts";
import { mayBroadcast } from "#lib/settlement/broadcast-caps.ts";
import { leaseMs } from "#lib/settlement/limits.ts";
import { submit } from "#lib/settlement/submit.ts";
import { credentialHeaders, type Credential } from "#lib/x402/credential.ts";
import { failed, type Failure } from "#lib/x402/failure.ts";
import { compareSigner } from "#lib/x402/verify.ts";

/** Asked again first after a second: most sellers settle within a block or two. */
const FIRST_CHECK_MS = 1_000;

type Execute = Asked & { readonly caller: Caller; readonly authorization: AuthorizationRow; readonly verified: Verified };

/** Verify, submit in one transaction, settle where we do, and book the result in another. */
export const executePayment: Handler<typeof contract.executePayment> = async ({ body }, { caller, idempotency, requestId }) => {
  if (!idempotency) throw new Error("The body's idempotencyKey is required.");
  const { subjectId } = caller;
  const asked: Asked = { idempotency, subjectId, requestId };
  const authorization = await findAuthorization(database(), caller, body.authorizationId);
  if (!authorization) throw notFound("authorization");
  const earlier = authorization.subjectId === subjectId ? await earlierReply(authorization, asked) : null;
  if (earlier) return earlier;
  const now = await requireOpen(database(), authorization, subjectId);
  const payment = expectedPayment(authorization);
  if (body.paymentCredential === undefined) throw credentialMissing(payment, authorization.intent as PaymentIntent);
  const verified = await verifyCredential(body.paymentCredential, payment, now);
  const begun = await firstOrTwin({ ...asked, caller, authorization, verified });
  if ("reply" in begun) return begun.reply;
  const finding = await submit(begun.execution, authorization);
  return finish(begun.execution, authorization, asked, finding);
};

async function requireOpen(
  db: ReturnType<typeof database> | Tx,
  authorization: AuthorizationRow,
  subjectId: string,
  known?: { readonly hold: Hold | null; readonly approved: Approved | null },
): Promise<Date> {
  const { authorizationId } = authorization;
  const { hold, approved } = known ?? {
    hold: await holdOf(db, authorizationId),
    approved: await findApproved(db, authorizationId),
  };
  const now = await clock(db);
  const href = approvalLink(authorization);
  const askedBy = approved || href === null ? null : await askedUnder(db, authorization, href);
  const facts = { subjectId, authorization, hold, approved, href, askedBy };
  requireExecutable({ ...facts, hasLiveExecution: await hasLiveExecution(db, authorizationId) }, now);
  return now;
}

type Begun = { readonly reply: StoredReply } | { readonly execution: ExecutionRow };

/** A twin with the same key that came first is answered from what it stored. */
async function firstOrTwin(execute: Execute): Promise<Begun> {
  try {
    return await transact((tx) => begin(tx, execute));
  } catch (error) {
    const twin = error instanceof LostSlot || isProblem(error) ? await earlierReply(execute.authorization, execute) : null;
    if (twin) return { reply: twin };
    throw lockTimedOut(error) ? inFlight() : error;
  }
}

/** Transaction 1: everything is read again after the gate and under the mandate's lock. */
async function begin(tx: Tx, execute: Execute): Promise<Begun> {
  const { authorization, subjectId, caller, verified } = execute;
  await enterGate(tx);
  const mandate = await lockMandate(tx, authorization.mandateId);
  const approved = await lockApproved(tx, authorization.authorizationId);
  const hold = await holdOf(tx, authorization.authorizationId);
  const now = await requireOpen(tx, authorization, subjectId, { hold, approved });
  requireRights({
    mandate,
    subjectId,
    callerIsLive: await callerIsLive(tx, caller),
    seller: await sellerStateOf(tx, authorization),
  });
  if (approved?.approval?.status === "pending") {
    requireSamePayment(approved.approval, authorization);
    const payableUntil = authorization.expiresAt;
    await redeemApproval(tx, approved.approval, { actorId: subjectId, requestId: execute.requestId, payableUntil }, now);
  }
  if (!verified.ok) return recordFailure(tx, execute, verified.failure, now);
  const { credential } = verified;
  const signer = compareSigner(credential.payer, mandate?.walletAddress ?? null);
  if (!signer.ok) return recordFailure(tx, execute, signer, now);
  if (!(await claimCredential(tx, credential, authorization))) {
    const reused = failed(
      "nonce_already_used",
      "This credential belongs to another payment. Sign a new one for this authorization.",
    );
    return recordFailure(tx, execute, reused, now);
  }
  await requireGas(tx, authorization);
  if (hold) await submitHold(tx, hold);
  if (approved) await startCheckout(tx, approved.checkout, now);
  const execution = await insert(tx, execute, submitted(credential, authorization, verified.fromBlock, now), now);
  note(tx, execution, "payment.submitted", now);
  if (execution.settlementStatus === "processing") return { execution };
  return { reply: await answerExecution(tx, execution, authorization, execute) };
}

/** The gas of what we settle is ours. */
async function requireGas(tx: Tx, { settlementMode, facilitatorUrl, sellerOrganizationId }: AuthorizationRow): Promise<void> {
  if (settlementMode !== "facilitatorSettled" || facilitatorUrl !== null || sellerOrganizationId === null) return;
  if (await mayBroadcast(tx, sellerOrganizationId)) return;
  throw new Problem("rate_limited", {
    detail: "This seller's settlements of the second or the day are used up. Try again later.",
    retryAfterSeconds: 60,
  });
}

type Change = Parameters<typeof insertExecution>[1];
type State = Partial<Change> & Pick<Change, "settlementStatus">;

/** Without our settling, the seller's is awaited; with it, the reconciler takes over when this process is gone. */
function submitted(credential: Credential, authorization: AuthorizationRow, fromBlock: bigint, now: Date): State {
  const { settlementMode, sellerOrganizationId, sellerId, resourceId, amount, asset, chain } = authorization;
  const weSettle = settlementMode === "facilitatorSettled";
  return {
    sellerOrganizationId,
    sellerId,
    resourceId,
    amount,
    asset,
    chain,
    settlementStatus: weSettle ? "processing" : "pending",
    credential: credential.payload,
    tokenAddress: credential.token,
    nonce: credential.nonce,
    validBefore: new Date(Number(credential.validBefore) * 1000),
    credentialHeaders: credentialHeaders(credential),
    fromBlock,
    nextCheckAt: new Date(now.getTime() + (weSettle ? leaseMs() : FIRST_CHECK_MS)),
  };
}

/** Failed before anything was sent: the hold stays and the authorization stays usable. */
async function recordFailure(tx: Tx, execute: Execute, { code, detail, metadata }: Failure, now: Date): Promise<Begun> {
  const state: State = {
    settlementStatus: "failed",
    failureCode: code,
    failureDetail: detail,
    failureMetadata: metadata ?? null,
    resolvedAt: now,
  };
  const execution = await insert(tx, execute, state, now);
  note(tx, execution, "payment.failed", now, { failureCode: code });
  return { reply: await answerExecution(tx, execution, execute.authorization, execute) };
}

async function insert(
  tx: Tx,
  { authorization, idempotency, subjectId, verified }: Execute,
  state: State,
  now: Date,
): Promise<ExecutionRow> {
  const { authorizationId, organizationId, environment, mandateId, settlementMode, facilitatorUrl } = authorization;
  const { credential } = verified;
  const execution = await insertExecution(tx, {
    executionId: newId("execution"),
    authorizationId,
    organizationId,
    environment,
    mandateId,
    subjectId,
    settlementMode,
    facilitatorUrl,
    credentialHash: credential?.hash ?? null,
    payer: credential?.payer ?? null,
    slot: idempotency.slot,
    fingerprint: idempotency.fingerprint,
    createdAt: now,
    ...state,
  });
  if (!execution) throw new LostSlot();
  return execution;
}

function note(tx: Tx, execution: ExecutionRow, type: string, now: Date, metadata: Record<string, unknown> = {}): void {
  const { executionId, authorizationId, mandateId, organizationId, subjectId } = execution;
  const event = { type, actorId: subjectId, organizationId, subjectId, entityType: "execution", entityId: executionId };
  audit(tx, { ...event, metadata: { authorizationId, mandateId, ...metadata } }, now);
}

/** Transaction 2: the result, the hold and the answer. */
async function finish(
  execution: ExecutionRow,
  authorization: AuthorizationRow,
  asked: Asked,
  finding: Awaited<ReturnType<typeof submit>>,
): Promise<StoredReply> {
  try {
    return await transact(async (tx) => {
      const row = await resolveExecution(tx, execution.executionId, execution.mandateId, finding);
      return answerExecution(tx, row, authorization, asked);
    });
  } catch (error) {
    const twin = error instanceof LostSlot ? await earlierReply(authorization, asked) : null;
    if (twin) return twin;
    throw error;
  }
}
