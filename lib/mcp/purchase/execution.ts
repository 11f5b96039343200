import { setTimeout } from "node:timers/promises";
import { Refused } from "#lib/mcp/tools/call-operation.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import type { ToolContext } from "#lib/mcp/tools/tool.ts";
import type { Payment, PaymentExecution } from "#lib/payments/payment-schema.ts";
import { paying, type Payer, type Transport } from "#purchase/follow.ts";
import { outcomeStep } from "#purchase/step.ts";

const POLL_MS = 1_000;

/** What the steps of one call have seen, for its answer. */
export type Seen = {
  payment?: Payment;
  refusal?: Refused;
  /** Whether this call made the execution, and no earlier one. */
  isMade?: boolean;
};

export async function readPayment({ call }: ToolContext, authorizationId: string, seen: Seen): Promise<Payment> {
  seen.payment = (await call(reachable.getPayment, { authorizationId })).body;
  return seen.payment;
}

export const executing = (on: ToolContext, seen: Seen, sign: Payer<PaymentExecution>["sign"]): Transport<PaymentExecution> =>
  paying({
    sign,
    executionsOf: async (authorizationId) => (await readPayment(on, authorizationId, seen)).executions,
    async execute(body) {
      const answer = await on.call(reachable.executePayment, { body });
      seen.isMade = !answer.replayed;
      return answer.body;
    },
    refusalOf: (error) => (error instanceof Refused ? (seen.refusal = error).problem : null),
  });

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
