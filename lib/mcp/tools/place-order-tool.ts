import { z } from "zod";
import { OrderItems, StorefrontUrl } from "#lib/approvals/order-item-schema.ts";
import { endedStatus, personFor } from "#lib/mcp/ask-person.ts";
import { openPurchase, repeatOf } from "#lib/mcp/purchase/purchase.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import { MandateId, next, problem, PurchaseId, Purpose, repeatFields, waitingFields } from "#lib/mcp/tools/shapes.ts";
import { buying, tool } from "#lib/mcp/tools/tool.ts";
import { OrderStatus } from "#lib/vocabulary.ts";
import { questionIn } from "#purchase/step.ts";

const NAME = "place_order";

const nextSteps: Readonly<Partial<Record<z.output<typeof OrderStatus>, string>>> = {
  paymentCredentialRequired:
    "Sign order.paymentRequired with your wallet, and call again with the same arguments and the signature as paymentCredential.",
  setupRequired: "Show order.setupUrl to your person, and call again with the same arguments afterwards.",
  quoteChanged: "The storefront's offer changed and nothing was paid. Order again with a new purchaseId.",
  denied: "Do not repeat it: the mandate forbids this order. Tell your person why.",
  processing: "The payment is under way. Call again with the same arguments and without paymentCredential. Do not pay again.",
  completed: "The order is placed and paid.",
  failed: "The order failed. Read the payment with get_payment before you pay again.",
};

export const placeOrderTool = tool({
  name: NAME,
  title: "Place an order",
  description:
    "Orders a basket at a storefront and pays it under the mandate. Call it again with the same arguments to continue the same order, for example after an approval. The person sees the basket and the price.",
  annotations: buying,
  input: z.strictObject({
    storefrontUrl: StorefrontUrl,
    mandateId: MandateId,
    items: OrderItems,
    purpose: Purpose,
    purchaseId: PurchaseId,
    paymentCredential: z.string().max(65_536).optional(),
  }),
  output: z.object({
    status: z.enum([...OrderStatus.options, "approvalDeclined", "approvalExpired", "ended", "refused"]),
    ...waitingFields,
    ...repeatFields,
    order: z.record(z.string(), z.unknown()).optional(),
    next,
    problem,
  }),
  async run({ paymentCredential, ...args }, on) {
    const { storefrontUrl, mandateId, items, purpose } = args;
    const purchase = await openPurchase(NAME, args, on);
    const order = async (credential: string | undefined) => {
      const body = {
        storefrontUrl,
        mandateId,
        items,
        idempotencyKey: purchase.row.purchaseKey,
        ...(purpose !== undefined && { metadata: { purpose } }),
        ...(credential !== undefined && { paymentCredential: credential }),
      };
      return (await on.call(reachable.placeOrder, { body })).body;
    };
    let placed = await order(paymentCredential);
    const { authorization } = placed;
    if (placed.status === "approvalRequired" && authorization && questionIn(authorization)) {
      const person = personFor(on, purchase);
      const step = await person.stepOf(authorization);
      const more = { order: { ...placed }, ...repeatOf(purchase) };
      if (step.step === "ask") return person.answer(step.question, authorization, more);
      if (step.step === "ended") return { content: { status: endedStatus(step.why), ...more } };
      placed = await order(undefined);
    }
    const { status } = placed;
    const nextStep = nextSteps[status];
    return {
      content: { status, order: { ...placed }, ...(nextStep !== undefined && { next: nextStep }), ...repeatOf(purchase) },
    };
  },
});
