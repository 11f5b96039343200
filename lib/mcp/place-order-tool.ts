import { z } from "zod";
import { OrderItems, StorefrontUrl } from "#lib/approvals/order-item-schema.ts";
import { askPerson, questionOf } from "#lib/mcp/ask-person.ts";
import { openPurchase, repeatOf } from "#lib/mcp/purchase.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import { MandateId, next, problem, PurchaseId, Purpose, repeatFields, waitingFields } from "#lib/mcp/shapes.ts";
import { buying, refused, tool } from "#lib/mcp/tool.ts";
import { OrderStatus } from "#lib/vocabulary.ts";

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
    const order = async (credential: string | undefined) =>
      on.call(reachable.placeOrder, {
        body: {
          storefrontUrl,
          mandateId,
          items,
          idempotencyKey: purchase.row.purchaseKey,
          ...(purpose !== undefined && { metadata: { purpose } }),
          ...(credential !== undefined && { paymentCredential: credential }),
        },
      });
    let answer = await order(paymentCredential);
    if (answer.ok && answer.body.status === "approvalRequired" && answer.body.authorization) {
      const question = questionOf(answer.body.authorization);
      const asked = question && (await askPerson(on, purchase, question));
      if (asked?.kind === "refused") return refused(asked.problem);
      if (asked?.kind === "input") return asked.result;
      if (asked?.kind === "waiting") return { content: { ...asked.content, order: { ...answer.body }, ...repeatOf(purchase) } };
      if (asked && asked.decided !== "approved")
        return { content: { status: asked.decided, order: { ...answer.body }, ...repeatOf(purchase) } };
      answer = await order(undefined);
    }
    if (!answer.ok) return refused(answer.problem);
    const { status } = answer.body;
    const nextStep = nextSteps[status];
    return {
      content: { status, order: { ...answer.body }, ...(nextStep !== undefined && { next: nextStep }), ...repeatOf(purchase) },
    };
  },
});
