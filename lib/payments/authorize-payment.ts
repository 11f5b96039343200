import { keyReused } from "#lib/command/idempotency.ts";
import { storedReply, type Context, type Handler, type Input } from "#lib/http/operation.ts";
import { authorizeBatch } from "#lib/payments/authorize-batch.ts";
import { guardedFingerprint } from "#lib/payments/batch/made-elsewhere.ts";
import type * as contract from "#lib/payments/contract.ts";
import type { Asker, FinalAnswer, Item } from "#lib/payments/queue-item.ts";
import { wakeNotices } from "#lib/notices/wake.ts";
import { probeDomain } from "#lib/payments/probe-domain.ts";
import { nameIntent } from "#lib/payments/name-intent.ts";
import { AuthorizeQueue } from "#lib/payments/queue.ts";
import { Problem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";

export const authorizeQueue = (): AuthorizeQueue =>
  perProcess("payments/authorize-payment", () => new AuthorizeQueue(authorizeBatch, keyReused));

/** No transaction is open while the service asks a seller's domain. @throws Problem if too many domains are asked */
export async function submitItem(item: Item): Promise<FinalAnswer> {
  const answer = await decide(item);
  wakeNotices();
  return answer;
}

async function decide(item: Item): Promise<FinalAnswer> {
  const answer = await authorizeQueue().submit(item);
  if (answer.kind !== "probe") return answer;
  const probeResult = await probeDomain(answer.probe, item.organizationId);
  const final = await authorizeQueue().submit({ ...item, probeResult });
  if (final.kind === "probe") throw new Error("A domain was asked, and its answer was not looked at.");
  return final;
}

type Operation = typeof contract.authorizePayment;

export async function authorizeOne(
  { body }: Input<Operation>,
  { caller, idempotency, requestId }: Omit<Context<Operation>, "request">,
): Promise<Extract<FinalAnswer, { kind: "reply" }>> {
  if (!idempotency) {
    throw new Problem("idempotency_key_required", {
      detail: "Send an idempotency key in intent.idempotencyKey or in the Idempotency-Key header.",
    });
  }
  const asker: Asker =
    caller.kind === "key"
      ? { kind: "key", subjectId: caller.serviceAccountId, keyId: caller.keyId }
      : { kind: "session", subjectId: caller.userId, sessionId: caller.sessionId };
  const answer = await submitItem({
    slot: idempotency.slot,
    fingerprint: guardedFingerprint(body.intent, idempotency.fingerprint),
    idempotencyKey: idempotency.key,
    organizationId: caller.organizationId,
    environment: caller.environment,
    asker,
    mandateId: body.mandateId,
    intent: nameIntent(body.intent, idempotency.key),
    requestId,
  });
  if (answer.kind === "problem") throw answer.problem;
  return answer;
}

/** The decision, the reserved amount and the audit event are stored before the reply is sent. */
export const authorizePayment: Handler<Operation> = async (input, context) => {
  const { status, body, replayed } = await authorizeOne(input, context);
  return storedReply(status, body, replayed);
};
