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

/** Returns an execution that has not failed instead of paying again; after a failed one, the next has a new idempotency key. */
export async function executeOnce(
  { call }: ToolContext,
  authorizationId: string,
  credential: () => Promise<
    { readonly ok: true; readonly text: string | undefined } | { readonly ok: false; readonly problem: ErrorBody }
  >,
): Promise<Executed> {
  const read = await call(reachable.getPayment, { authorizationId });
  if (!read.ok) return read;
  const { executions } = read.body;
  const live = executions.find(isLive);
  if (live) return { ok: true, execution: live, repeated: true };
  const idempotencyKey = executions.length === 0 ? authorizationId : `${authorizationId}.${executions.length}`;
  const signed = await credential();
  if (!signed.ok) return signed;
  const body = { authorizationId, idempotencyKey, ...(signed.text !== undefined && { paymentCredential: signed.text }) };
  const answer = await call(reachable.executePayment, { body });
  return answer.ok ? { ok: true, execution: answer.body, repeated: answer.replayed } : answer;
}

/** Waits for the outcome for about this many seconds at most; returns the execution as it was last read. */
export async function untilKnown(
  { call, signal }: ToolContext,
  authorizationId: string,
  execution: PaymentExecution,
  seconds: number,
): Promise<PaymentExecution> {
  const until = Date.now() + seconds * 1_000;
  let now = execution;
  while (isOpen(now) && Date.now() < until && !signal.aborted) {
    await setTimeout(POLL_MS);
    const read = await call(reachable.getPayment, { authorizationId });
    if (!read.ok) return now;
    now = read.body.executions.find(({ executionId }) => executionId === now.executionId) ?? now;
  }
  return now;
}
