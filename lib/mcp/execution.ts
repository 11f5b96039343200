import { setTimeout } from "node:timers/promises";
import { reachable } from "#lib/mcp/reachable.ts";
import type { ToolContext } from "#lib/mcp/tool.ts";
import type { PaymentExecution } from "#lib/payments/payment-schema.ts";
import type { ErrorBody } from "#lib/problem.ts";

const POLL_MS = 1_000;

export type Executed =
  | {
      readonly ok: true;
      readonly execution: PaymentExecution;
      /** Whether an earlier call made this execution. */
      readonly repeated: boolean;
    }
  | { readonly ok: false; readonly problem: ErrorBody };

const isLive = ({ settlementStatus }: PaymentExecution): boolean => settlementStatus !== "failed";
export const isOpen = ({ settlementStatus }: PaymentExecution): boolean =>
  settlementStatus === "processing" || settlementStatus === "unknown";

type Credential = () => Promise<
  { readonly ok: true; readonly text: string | undefined } | { readonly ok: false; readonly problem: ErrorBody }
>;

const attemptKey = (ownId: string, attempts: number): string => (attempts === 0 ? ownId : `${ownId}.${attempts}`);

/**
 * Returns an execution that has not failed instead of paying again; after a failed one, the next has a new idempotency key. The
 * keys begin with `ownId`.
 */
export async function executeOnce(
  { call }: ToolContext,
  authorizationId: string,
  credential: Credential,
  ownId = authorizationId,
): Promise<Executed> {
  const read = await call(reachable.getPayment, { authorizationId });
  if (!read.ok) return read;
  const { executions } = read.body;
  const live = executions.find(isLive);
  if (live) return { ok: true, execution: live, repeated: true };
  const idempotencyKey = attemptKey(ownId, executions.length);
  const signed = await credential();
  if (!signed.ok) return signed;
  const body = { authorizationId, idempotencyKey, ...(signed.text !== undefined && { paymentCredential: signed.text }) };
  const answer = await call(reachable.executePayment, { body });
  return answer.ok ? { ok: true, execution: answer.body, repeated: answer.replayed } : answer;
}

/** `authorizationId` is the one that a person approved, and `ownId` the one of the purchase itself. */
type Shared = { readonly authorizationId: string; readonly ownId: string };

/** As executeOnce, but returns only an execution of this purchase. Several purchases can have asked for the same approval. */
export async function executeOwn(on: ToolContext, shared: Shared, credential: Credential): Promise<Executed | "paidForAnother"> {
  const done = await executeOnce(on, shared.authorizationId, credential, shared.ownId);
  const isUsed = done.ok ? done.repeated : done.problem.code === "authorization_consumed";
  return isUsed ? ownOf(on, shared, done) : done;
}

/** The service repeats its answer only for the idempotency key that made the execution. */
async function ownOf({ call }: ToolContext, { authorizationId, ownId }: Shared, done: Executed) {
  const read = await call(reachable.getPayment, { authorizationId });
  if (!read.ok) return read;
  const { executions } = read.body;
  const live = executions.find(isLive);
  if (!live) return done;
  for (let attempt = executions.length - 1; attempt >= 0; attempt -= 1) {
    const body = { authorizationId, idempotencyKey: attemptKey(ownId, attempt) };
    const answer = await call(reachable.executePayment, { body });
    if (answer.ok) {
      const now = executions.find(({ executionId }) => executionId === answer.body.executionId);
      return { ok: true as const, execution: now ?? answer.body, repeated: true };
    }
    const { code, status } = answer.problem;
    if (code === "idempotency_in_flight") return { ok: true as const, execution: live, repeated: true };
    // No execution was made with this key, or that execution failed.
    if (code !== "authorization_consumed" && status !== 402) return answer;
  }
  return "paidForAnother" as const;
}

/** Waits for the outcome for about this many seconds at most; returns the execution as it was last read. */
export async function untilKnown(
  { call, signal }: ToolContext,
  authorizationId: string,
  execution: PaymentExecution,
  seconds: number,
): Promise<PaymentExecution> {
  const until = performance.now() + seconds * 1_000;
  let now = execution;
  while (isOpen(now) && performance.now() < until && !signal.aborted) {
    await setTimeout(POLL_MS);
    const read = await call(reachable.getPayment, { authorizationId });
    if (!read.ok) return now;
    now = read.body.executions.find(({ executionId }) => executionId === now.executionId) ?? now;
  }
  return now;
}
