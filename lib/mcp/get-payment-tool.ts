import { z } from "zod";
import { Id } from "#lib/ids.ts";
import { untilKnown } from "#lib/mcp/execution.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import { next, problem } from "#lib/mcp/shapes.ts";
import { readOnly, refused, tool, type ToolContext } from "#lib/mcp/tool.ts";
import type { Payment } from "#lib/payments/payment-schema.ts";

const WAIT_MAX = 25;

const isAsking = ({ checkout }: Payment): boolean => checkout?.status === "previewed" || checkout?.status === "awaiting_approval";

/** Waits for the person's decision and returns getCheckout's answer; if nobody is asked, waits for the settlement (null). */
async function wait(on: ToolContext, payment: Payment, waitSeconds: number) {
  const { checkout, authorization, executions } = payment;
  if (isAsking(payment) && checkout)
    return on.call(reachable.getCheckout, { checkoutIntentId: checkout.checkoutIntentId, query: { waitSeconds } });
  const [newest] = executions;
  if (newest) await untilKnown(on, authorization.authorizationId, newest, waitSeconds);
  return null;
}

const nextOf = (payment: Payment): string | undefined =>
  isAsking(payment)
    ? "Nobody has decided yet. Ask again with waitSeconds."
    : payment.checkout?.status === "approved"
      ? "The person approved. Call the tool that asked again with the same arguments, or execute_payment."
      : undefined;

export const getPaymentTool = tool({
  name: "get_payment",
  title: "Read a payment",
  description:
    "Reads a payment: what was decided, whether a person is asked, and whether it settled. With waitSeconds it answers as soon as a person decides or the payment settles. With receipt it adds the signed receipt.",
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
    let read = await on.call(reachable.getPayment, { authorizationId });
    if (!read.ok) return refused(read.problem);
    if (waitSeconds > 0) {
      const waited = await wait(on, read.body, waitSeconds);
      if (waited && !waited.ok) return refused(waited.problem);
      // The payment may have changed, and this new request checks the key again.
      read = await on.call(reachable.getPayment, { authorizationId });
      if (!read.ok) return refused(read.problem);
    }
    const found = receipt ? await on.call(reachable.getPaymentReceipt, { authorizationId }) : null;
    if (found && !found.ok) return refused(found.problem);
    const nextStep = nextOf(read.body);
    return {
      content: {
        status: "ok" as const,
        payment: read.body,
        ...(found && { receipt: { ...found.body } }),
        ...(nextStep !== undefined && { next: nextStep }),
      },
    };
  },
});
