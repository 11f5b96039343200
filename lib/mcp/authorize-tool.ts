import { z } from "zod";
import { askPerson, questionOf } from "#lib/mcp/ask-person.ts";
import { openPurchase, repeatOf } from "#lib/mcp/purchase.ts";
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
} from "#lib/mcp/shapes.ts";
import { buying, refused, tool } from "#lib/mcp/tool.ts";

const NAME = "authorize_payment";

const nextSteps = {
  approved: "Pay with execute_payment and this authorizationId before expiresAt.",
  denied: "Do not repeat it: the mandate forbids this payment. Tell your person why, or choose another seller or amount.",
  approvalDeclined: "A person said no. Do not ask again.",
  approvalExpired: "Nobody decided in time, so nobody refused. You may ask once more, with a new purchaseId.",
  ended: "This request ended and nothing was paid.",
} as const;

export const authorizePaymentTool = tool({
  name: NAME,
  title: "Authorize a payment",
  description:
    "Decides whether you may make this payment and reserves its amount in the budget. For agents with their own wallet: pay it with execute_payment. If a person must approve, the call waits for their answer or returns approvalUrl. Repeats with the same arguments within ten minutes are the same payment.",
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
    const answer = await on.call(reachable.authorizePayment, { body });
    if (!answer.ok) return refused(answer.problem);
    const { authorizationId, expiresAt, policyDecision: decision } = answer.body;
    const repeat = repeatOf(purchase);
    if (decision.outcome === "allow") {
      const next = nextSteps.approved;
      return { content: { status: "authorized" as const, authorizationId, expiresAt, decision, next, ...repeat } };
    }
    const question = decision.outcome === "requireApproval" ? questionOf(answer.body) : null;
    if (!question)
      return { content: { status: "denied" as const, authorizationId, decision, next: nextSteps.denied, ...repeat } };
    const asked = await askPerson(on, purchase, question);
    if (asked.kind === "refused") return refused(asked.problem);
    if (asked.kind === "input") return asked.result;
    if (asked.kind === "waiting") return { content: { ...asked.content, decision, ...repeat } };
    const status = asked.decided === "approved" ? ("authorized" as const) : asked.decided;
    const found = { authorizationId: question.authorizationId, checkoutIntentId: question.checkoutIntentId };
    return { content: { status, ...found, decision, next: nextSteps[asked.decided], ...repeat } };
  },
});
