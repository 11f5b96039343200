import { clock, transactAgain } from "#lib/audit/transact.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { inTurn } from "#lib/db/turns.ts";
import { LostSlot } from "#lib/command/idempotency.ts";
import type { Caller, Handler, StoredReply } from "#lib/http/operation.ts";
import { adoptSettlement, wasSettledAs } from "#lib/execute/adopt-settlement.ts";
import { firstOrTwin, requireOpenPayment, type Execute } from "#lib/execute/begin-execution.ts";
import { bindCredential, meansOf } from "#lib/execute/bind-credential.ts";
import type * as contract from "#lib/payments/contract.ts";
import { answerExecution, earlierReply, type ExecutionRequest } from "#lib/execute/execution-replies.ts";
import { findAuthorization, type AuthorizationRow, type ExecutionRow } from "#lib/holds/execution-store.ts";
import { bindModulePayment, moduleMeans, prepareModulePayment } from "#lib/execute/pay-by-module.ts";
import { credentialMissing } from "#lib/payments/present-execution.ts";
import { provePayment } from "#lib/execute/prove-payment.ts";
import { resolveExecution } from "#lib/payments/executions/resolve-execution.ts";
import { expectedPayment, secondsLeftFor, verifyCredential } from "#lib/payments/executions/verify-credential.ts";
import { has402 } from "#lib/payment-intent.ts";
import { record } from "#lib/payments/execute-call.ts";
import { invalidField, isProblem, notFound, Problem } from "#lib/problem.ts";
import { submit } from "#lib/settlement/submit.ts";

/** Transaction 1 stores the execution and transaction 2 the result; no transaction is open while the payment is submitted. */
export const executePayment: Handler<typeof contract.executePayment> = async ({ body }, { caller, idempotency, requestId }) => {
  if (!idempotency) throw new Error("The body's idempotencyKey is required.");
  const { subjectId } = caller;
  const asked: ExecutionRequest = { idempotency, subjectId, requestId };
  const authorization = await findAuthorization(database(), caller, body.authorizationId);
  if (!authorization) throw notFound("authorization");
  if (!has402(authorization.intent)) throw madeElsewhere(body.authorizationId);
  const earlier = await ownReply(authorization, asked);
  if (earlier) return earlier;
  const now = await openOrSettled(authorization, asked, body.paymentCredential);
  if (!(now instanceof Date)) return now;
  const pays = await paidBy(authorization, caller, body.paymentCredential, now);
  const begun = await firstOrTwin({ ...asked, ...pays, caller, authorization });
  if ("reply" in begun) return begun.reply;
  const finding = await submit(begun.execution, authorization);
  return finish(begun.execution, authorization, asked, finding);
};

const madeElsewhere = (authorizationId: string): Problem =>
  new Problem("forbidden", {
    detail: "This payment is made elsewhere, so this service does not pay it. Pay it there, and then record it.",
    nextActions: [{ type: "correct_request", label: "Record the payment", metadata: { next: record(authorizationId) } }],
  });

const ownReply = async (authorization: AuthorizationRow, asked: ExecutionRequest): Promise<StoredReply | null> =>
  authorization.subjectId === asked.subjectId ? earlierReply(authorization, asked) : null;

/** Throws as requireOpenPayment, unless the seller already had this payment settled (wasSettledAs). Returns the database's time. */
async function openOrSettled(
  authorization: AuthorizationRow,
  asked: ExecutionRequest,
  credential: string | undefined,
): Promise<Date | StoredReply> {
  try {
    return await requireOpenPayment(database(), authorization, asked.subjectId);
  } catch (error) {
    if (!isProblem(error)) throw error;
    if (credential !== undefined && (await wasSettledAs(credential, authorization))) return clock(database());
    // Another call with the same key may have begun the execution after the first look.
    const twin = await ownReply(authorization, asked);
    if (twin) return twin;
    throw error;
  }
}

type Pays = Pick<Execute, "means" | "bind" | "adopt">;

async function paidBy(authorization: AuthorizationRow, caller: Caller, credential: string | undefined, now: Date): Promise<Pays> {
  const { enforcementPath } = authorization.intent;
  if (enforcementPath === "onchain") {
    if (credential !== undefined) throw invalidField("/paymentCredential", "An onchain payment takes no credential.");
    const prepared = await prepareModulePayment(authorization, now);
    return { means: moduleMeans(prepared), bind: (tx, locked) => bindModulePayment(tx, prepared, locked) };
  }
  const { verified, proof } = await credentialFor(authorization, caller, credential, now);
  const means = meansOf(authorization, verified);
  return {
    means,
    bind: (tx, locked) => bindCredential(tx, { authorization, verified, proof }, locked),
    ...(!proof && { adopt: (tx, locked) => adoptSettlement(tx, authorization, verified, locked) }),
  };
}

/** Without the agent's signed payment, this service signs one for a registered mandate. @throws Problem credential_missing */
async function credentialFor(authorization: AuthorizationRow, caller: Caller, credential: string | undefined, now: Date) {
  const payment = expectedPayment(authorization);
  const life = { now, secondsLeft: secondsLeftFor(authorization) };
  if (credential !== undefined) return { verified: await verifyCredential(credential, payment, life), proof: null };
  const proven = await provePayment(authorization, payment, caller, now);
  if (!proven) throw credentialMissing(payment, authorization.intent);
  return proven;
}

/** Transaction 2: stores the result and the answer. If the result is final, the reserved amount is captured or released. */
async function finish(
  execution: ExecutionRow,
  authorization: AuthorizationRow,
  asked: ExecutionRequest,
  finding: Awaited<ReturnType<typeof submit>>,
): Promise<StoredReply> {
  try {
    const resolve = async (tx: Tx): Promise<StoredReply> => {
      const row = await resolveExecution(tx, execution.executionId, execution.mandateId, finding);
      return answerExecution(tx, row, authorization, asked);
    };
    // Sent payments are finished before waiting ones of the mandate begin, so that their callers get the answer in time.
    return await inTurn(execution.mandateId, () => transactAgain(resolve), { first: true });
  } catch (error) {
    const twin = error instanceof LostSlot ? await earlierReply(authorization, asked) : null;
    if (twin) return twin;
    throw error;
  }
}
