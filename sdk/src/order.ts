import { awaitPerson } from "./approval.ts";
import { readChallenge } from "./challenge.ts";
import { keyOf, type Context } from "./context.ts";
import { CountersignError, PaymentDenied } from "./errors.ts";
import type { PlaceOrder, PlacedOrder } from "./operations.ts";
import { pause } from "./service.ts";
import { sign } from "./sign.ts";

const POLL_MS = 500;
const LIMIT_MS = 300_000;

export type Order = Pick<PlaceOrder, "storefrontUrl" | "items" | "metadata"> & {
  /** The name of this order. A call with the same name is the same order. */
  readonly operation?: string;
  readonly signal?: AbortSignal;
};

/** The call ended before the order was complete. `order` has its status and its next action. */
export class OrderNotPlaced extends CountersignError {
  readonly order: PlacedOrder;

  constructor(order: PlacedOrder) {
    super(`The order is ${order.status}: ${order.nextAction.label}`);
    this.order = order;
  }
}

async function signOrder({ wallet, token }: Context, order: PlacedOrder): Promise<string> {
  if (!wallet || !order.paymentRequired) throw new OrderNotPlaced(order);
  const required = new Response(null, { status: 402, headers: { ...order.paymentRequired } });
  return sign(wallet, await readChallenge(required, order.storefront.checkoutUrl, await token()));
}

/**
 * Places an order at a storefront: repeats one call until the order is complete, and waits for a person if one must approve.
 * @throws PaymentDenied; OrderNotPlaced, also if the order is still `processing` five minutes after the call or after the
 * approval; and the errors of awaitPerson
 */
export async function placeOrder(context: Context, { operation, signal, ...order }: Order): Promise<PlacedOrder> {
  const { service, mandateId } = context;
  const base = { ...order, mandateId, idempotencyKey: await keyOf(operation) };
  let until = Date.now() + LIMIT_MS;
  let paymentCredential: string | undefined;
  for (;;) {
    const body = { ...base, ...(paymentCredential !== undefined && { paymentCredential }) };
    const { body: placed } = await service.call("placeOrder", { body }, { signal });
    const { status, nextAction, authorization } = placed;
    if (status === "completed") return placed;
    if (status === "denied" && authorization) throw new PaymentDenied(authorization);
    if (status === "paymentCredentialRequired" && paymentCredential === undefined) {
      paymentCredential = await signOrder(context, placed);
    } else if (status === "approvalRequired" && nextAction.url !== undefined) {
      const id = new URL(nextAction.url).pathname.split("/").at(-1) ?? "";
      const path = `/api/v1/agent/commerce/checkouts/${encodeURIComponent(id)}?waitSeconds=30`;
      await awaitPerson(context, { url: nextAction.url, path }, signal);
      until = Date.now() + LIMIT_MS;
    } else if (status === "processing" && Date.now() < until) {
      // A repeat with the same signed payment would get the stored answer "processing" again.
      paymentCredential = undefined;
      await pause(POLL_MS, signal);
    } else throw new OrderNotPlaced(placed);
  }
}
