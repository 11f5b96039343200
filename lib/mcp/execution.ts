import { setTimeout } from "node:timers/promises";
import { Refused } from "#lib/mcp/call-operation.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import type { ToolContext } from "#lib/mcp/tool.ts";
import type { Payment, PaymentExecution } from "#lib/payments/payment-schema.ts";
import { afterExecution, afterRefusal, type Transport } from "#purchase/follow.ts";
import { outcomeStep } from "#purchase/step.ts";

const POLL_MS = 1_000;

/** What the steps of one call have seen, for the steps and the answer that follow. */
export type Seen = {
  payment?: Payment;
  refusal?: Refused;
  /** The signed payment. Undefined if the service signs. */
  credential?: string | undefined;
  /** Whether this call made the execution, and no earlier one. */
  isMade?: boolean;
};

export const readPayment = async (
  { call }: ToolContext,
  { authorizationId }: { readonly authorizationId: string },
  seen: Seen,
): Promise<Payment> => (seen.payment = (await call(reachable.getPayment, { authorizationId })).body);

/** @throws Refused */
export const executing =
  ({ call }: ToolContext, seen: Seen): NonNullable<Transport<PaymentExecution>["execute"]> =>
  async (step, facts) => {
    const { authorizationId, idempotencyKey, isRepeat } = step;
    const signed = !isRepeat && seen.credential !== undefined && { paymentCredential: seen.credential };
    try {
      const { body, replayed } = await call(reachable.executePayment, { body: { authorizationId, idempotencyKey, ...signed } });
      seen.isMade = !isRepeat && !replayed;
      return afterExecution(facts, body);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      seen.refusal = error;
      const next = afterRefusal(facts, step, error.problem);
      if (next) return next;
      throw error;
    }
  };

/** Waits for the outcome for about this many seconds at most; returns the execution as it was last read. */
export async function untilKnown(
  { call, signal }: ToolContext,
  authorizationId: string,
  execution: PaymentExecution,
  seconds: number,
): Promise<PaymentExecution> {
  const until = performance.now() + seconds * 1_000;
  let now = execution;
  while (outcomeStep(now, { shown: "no", isLate: false }).step === "wait" && performance.now() < until && !signal.aborted) {
    await setTimeout(POLL_MS);
    const read = await call(reachable.getPayment, { authorizationId }).catch(() => null);
    if (!read) return now;
    now = read.body.executions.find(({ executionId }) => executionId === now.executionId) ?? now;
  }
  return now;
}
