import { clock, transact } from "#lib/audit/transact.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { inFlight, keepReply, keyReused, LostSlot, replay } from "#lib/command/idempotency.ts";
import { storedReply, type Idempotency, type StoredReply } from "#lib/http/operation.ts";
import { PaymentExecution } from "#lib/payments/payment-schema.ts";
import { executionInSlot, type AuthorizationRow, type ExecutionRow } from "#lib/holds/execution-store.ts";
import type { PaymentIntent } from "#lib/payment-intent.ts";
import { failureDetails, presentExecution } from "#lib/payments/present-execution.ts";
import { expectedPayment } from "#lib/payments/executions/verify-credential.ts";
import { Problem, problemBody } from "#lib/problem.ts";
import { leaseMs } from "#lib/settlement/limits.ts";
import { ageOf } from "#lib/time.ts";
import type { FailureCode } from "#lib/x402/failure.ts";

export type ExecutionRequest = { readonly idempotency: Idempotency; readonly subjectId: string; readonly requestId: string };

/** Writes the answer and stores it under the idempotency key, so that a retry gets the same bytes. */
export async function answerExecution(
  tx: Tx,
  row: ExecutionRow,
  authorization: AuthorizationRow,
  asked: ExecutionRequest,
): Promise<StoredReply> {
  const reply =
    row.settlementStatus === "failed"
      ? failedReply(row, authorization, asked.requestId)
      : succeededReply(row, authorization.intent, asked.subjectId);
  const { slot, fingerprint } = asked.idempotency;
  await keepReply(tx, { slot, fingerprint, ...reply });
  return storedReply(reply.status, reply.body, false);
}

type Bytes = { readonly status: number; readonly body: string };

const succeededReply = (row: ExecutionRow, intent: PaymentIntent, subjectId: string): Bytes => ({
  status: 200,
  body: JSON.stringify(PaymentExecution.parse(presentExecution(row, intent, subjectId))),
});

function failedReply(row: ExecutionRow, authorization: AuthorizationRow, requestId: string): Bytes {
  const details = failureDetails({ row, intent: authorization.intent, payment: expectedPayment(authorization) });
  const problem = new Problem((row.failureCode ?? "verification_failed") as FailureCode, details);
  return { status: 402, body: JSON.stringify(problemBody(problem, requestId)) };
}

const WAIT_MS = 1_000;
const ASK_EVERY_MS = 100;

/** Null if the key is new. Without a stored reply, the answer has the execution's current state. @throws Problem */
export async function earlierReply(authorization: AuthorizationRow, asked: ExecutionRequest): Promise<StoredReply | null> {
  const { idempotency } = asked;
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const stored = await replay(idempotency);
    if (stored) return stored;
    const row = await executionInSlot(database(), idempotency.slot);
    if (!row) return null;
    if (row.fingerprint !== idempotency.fingerprint) throw keyReused();
    const leftMs = await leaseLeft(row);
    if (leftMs <= 0) return resume(row, authorization, asked);
    if (performance.now() >= until) throw inFlight(leftMs);
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
}

/** In milliseconds; zero if no request is settling the execution any more. */
const leaseLeft = async ({ settlementStatus, createdAt }: ExecutionRow): Promise<number> =>
  settlementStatus === "processing" ? Math.max(0, leaseMs() - ageOf(createdAt, await clock(database()))) : 0;

async function resume(row: ExecutionRow, authorization: AuthorizationRow, asked: ExecutionRequest): Promise<StoredReply> {
  try {
    return await transact((tx) => answerExecution(tx, row, authorization, asked));
  } catch (error) {
    const twin = error instanceof LostSlot ? await replay(asked.idempotency) : null;
    if (twin) return twin;
    throw error;
  }
}
