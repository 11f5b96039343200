import { z } from "zod";
import { Id } from "#lib/ids.ts";
import { untilKnown } from "#lib/mcp/purchase/execution.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import { next, problem } from "#lib/mcp/tools/shapes.ts";
import { readOnly, tool, type ToolContext } from "#lib/mcp/tools/tool.ts";
import type { Payment } from "#lib/payments/payment-schema.ts";
import { decisionOf } from "#purchase/step.ts";

const WAIT_MAX = 25;

const isAsking = ({ checkout }: Payment): boolean => checkout !== undefined && decisionOf(checkout.status) === null;

/** Waits for the person's decision; if nobody is asked, waits for the settlement. */
async function wait(on: ToolContext, payment: Payment, waitSeconds: number): Promise<void> {
  const { checkout, authorization, executions } = payment;
  const [newest] = executions;
  if (isAsking(payment) && checkout)
    await on.call(reachable.getCheckout, { checkoutIntentId: checkout.checkoutIntentId, query: { waitSeconds } });
  else if (newest) await untilKnown(on, authorization.authorizationId, newest, waitSeconds);
}

function nextOf(payment: Payment): string | undefined {
  const { checkout, recorded, records } = payment;
  if (isAsking(payment)) return "Nobody has decided yet. Ask again with waitSeconds.";
  if (checkout && decisionOf(checkout.status) !== "approved") return undefined;
  if (recorded?.status === "open" && recorded.asks !== "exceeded")
    return records?.length === 0
      ? "Nothing is recorded yet. Pay it yourself unless you did, then record what you paid with record_payment."
      : "If you paid another part, record it with record_payment.";
  if (checkout?.status === "approved")
    return "The person approved. Call the tool that asked again with the same arguments, or execute_payment.";
  return undefined;
}

export const getPaymentTool = tool({
  name: "get_payment",
  title: "Read a payment",
  description:
    "Reads a payment: what was decided, whether a person is asked, and whether it settled or what was recorded of it. With waitSeconds it answers as soon as a person decides or the payment settles. With receipt it adds the signed receipt.",
  annotations: readOnly,
  input: z.strictObject({
    authorizationId: Id,
    waitSeconds: z.int().min(0).max(WAIT_MAX).optional(),
    receipt: z.boolean().optional(),
  }),
  output: z.object({
    status: z.enum(["ok", "refused"]),
    payment: z
      .looseObject({
        authorization: z.looseObject({ authorizationId: z.string(), expiresAt: z.string() }),
        executions: z.array(z.looseObject({ executionId: z.string(), settlementStatus: z.string() })),
        checkout: z.looseObject({ checkoutIntentId: z.string(), status: z.string() }).optional(),
      })
      .optional(),
    receipt: z.record(z.string(), z.unknown()).optional(),
    next,
    problem,
  }),
  async run({ authorizationId, waitSeconds = 0, receipt = false }, on) {
    let { body: payment } = await on.call(reachable.getPayment, { authorizationId });
    if (waitSeconds > 0) {
      await wait(on, payment, waitSeconds);
      // The payment may have changed, and this new request checks the key again.
      payment = (await on.call(reachable.getPayment, { authorizationId })).body;
    }
    const found = receipt ? await on.call(reachable.getPaymentReceipt, { authorizationId }) : null;
    const nextStep = nextOf(payment);
    return {
      content: {
        status: "ok" as const,
        payment,
        ...(found && { receipt: { ...found.body } }),
        ...(nextStep !== undefined && { next: nextStep }),
      },
    };
  },
});
