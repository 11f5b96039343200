import { z } from "zod";
import { endedStatus, personFor } from "#lib/mcp/ask-person.ts";
import { openPurchase, repeatOf } from "#lib/mcp/purchase/purchase.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import {
  askedIntent,
  Decision,
  Intent,
  MandateId,
  next,
  problem,
  PurchaseId,
  Purpose,
  repeatFields,
  waitingFields,
} from "#lib/mcp/tools/shapes.ts";
import { buying, tool } from "#lib/mcp/tools/tool.ts";
import { questionIn } from "#purchase/step.ts";

const NAME = "authorize_payment";

const nextSteps = {
  authorized: "Pay with execute_payment and this authorizationId before expiresAt.",
  paidElsewhere: "Pay it yourself by your own means. Then record what you paid with record_payment and this authorizationId.",
  denied: "Do not repeat it: the mandate forbids this payment. Tell your person why, or choose another seller or amount.",
  approvalDeclined: "A person said no. Do not ask again.",
  approvalExpired: "Nobody decided in time, so nobody refused. You may ask once more, with a new purchaseId.",
  ended: "This request ended and nothing was paid.",
} as const;

export const authorizePaymentTool = tool({
  name: NAME,
  title: "Authorize a payment",
  description:
    "Decides whether you may make this payment and reserves its amount in the budget. For agents with their own wallet: pay it with execute_payment. With paymentChallengeType record it is a payment outside of this service, such as an invoice: pay it yourself, then use record_payment. If a person must approve, the call waits for their answer or returns approvalUrl. Repeats with the same arguments within ten minutes are the same payment.",
  annotations: buying,
  input: z.strictObject({ mandateId: MandateId, intent: Intent, purpose: Purpose, purchaseId: PurchaseId }),
  output: z.object({
    status: z.enum(["authorized", "denied", "approvalRequired", "approvalDeclined", "approvalExpired", "ended", "refused"]),
    ...waitingFields,
    ...repeatFields,
    decision: Decision.optional(),
    next,
    problem,
  }),
  async run(args, on) {
    const { mandateId, intent, purpose } = args;
    const purchase = await openPurchase(NAME, args, on);
    const body = { mandateId, intent: { ...askedIntent(intent, purpose), idempotencyKey: purchase.row.purchaseKey } };
    const { body: authorization } = await on.call(reachable.authorizePayment, { body });
    const { authorizationId, expiresAt, policyDecision: decision } = authorization;
    const more = { decision, ...repeatOf(purchase) };
    const person = personFor(on, purchase);
    const step = await person.stepOf(authorization);
    if (step.step === "ask") return person.answer(step.question, authorization, more);
    const question = questionIn(authorization);
    const { checkoutIntentId } = question ?? {};
    const found = {
      authorizationId: question?.authorizationId ?? authorizationId,
      ...(question ? { checkoutIntentId } : { expiresAt }),
    };
    if (step.step !== "ended") {
      const next = intent.paymentChallengeType === "record" ? nextSteps.paidElsewhere : nextSteps.authorized;
      return { content: { status: "authorized" as const, ...found, ...more, next } };
    }
    if (step.why === "denied")
      return { content: { status: "denied" as const, authorizationId, ...more, next: nextSteps.denied } };
    const status = endedStatus(step.why);
    return { content: { status, ...found, ...more, next: nextSteps[status] } };
  },
});
