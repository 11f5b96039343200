import { awaitApproval } from "./approval.ts";
import { challengeFrom } from "./challenge.ts";
import { keyOf, type Context } from "./context.ts";
import { CountersignError, PaymentDenied, ServiceRefused } from "./errors.ts";
import { hide } from "./hide.ts";
import type { NextAction, NextActionType, OrderStatus, PlaceOrder, PlacedOrder } from "./operations.ts";
import { requiredIn } from "./required.ts";
import { pause } from "./service.ts";
import { sign } from "./sign.ts";

const POLL_MS = 500;
const LIMIT_MS = 300_000;

export type Order = Pick<PlaceOrder, "storefrontUrl" | "items" | "metadata"> & {
  /** The name of this order. A call with the same name is the same order. */
  readonly operation?: string;
  readonly signal?: AbortSignal;
};

const AGAIN = "Call again with the same operation after the cause is corrected.";

/** The kinds of the order's next action in this package's vocabulary. Statuses without one have no next action. */
const actions: Partial<Readonly<Record<OrderStatus, NextActionType>>> = {
  approvalRequired: "approve_checkout",
  processing: "poll_status",
  quoteChanged: "refresh_quote",
  setupRequired: "resume_mandate",
};

/** The code of the failed payment, such as insufficient_funds; undefined if no payment of this call failed. */
function failureOf({ intent }: PlacedOrder): string | undefined {
  const code = intent?.metadata?.["failureCode"];
  return typeof code === "string" ? code : undefined;
}

function nextActionsOf(order: PlacedOrder, payer: string | undefined): readonly NextAction[] {
  const { status, nextAction, quote, storefront } = order;
  const { label, url, type: kind } = nextAction;
  if (failureOf(order) !== undefined) {
    const wallet = { ...(payer !== undefined && { address: payer }), chain: storefront.chain, asset: quote.asset };
    const fund: NextAction = { type: "fund_wallet", label: `Send ${quote.asset} to the paying wallet`, ...wallet };
    return [...(failureOf(order) === "insufficient_funds" ? [fund] : []), { type: "retry_later", label: AGAIN }];
  }
  const signing = kind === "openBrowser" ? "connect_wallet" : "sign_credential";
  const type = status === "paymentCredentialRequired" ? signing : actions[status];
  return type === undefined ? [] : [{ type, label, ...(kind === "openBrowser" && url !== undefined && { href: url }) }];
}

/** The call ended before the order was complete. `order` has its status and its next action. */
export class OrderNotPlaced extends CountersignError {
  protected static override readonly usual: readonly NextAction[] = [
    { type: "retry_later", label: "To order again, call under another operation" },
  ];
  declare readonly order: PlacedOrder;
  /** Why the payment failed, such as insufficient_funds. Undefined if no payment failed. */
  declare readonly code: string | undefined;

  constructor(order: PlacedOrder, payer?: string) {
    const code = failureOf(order);
    const what = code === undefined ? order.nextAction.label : `${code}. ${AGAIN}`;
    super(`The order is ${order.status}: ${what}`, { nextActions: nextActionsOf(order, payer) });
    hide(this, { order, code });
  }
}

async function signOrder({ wallet, tokens }: Context, order: PlacedOrder): Promise<string> {
  if (!wallet || !order.paymentRequired) throw new OrderNotPlaced(order);
  const required = new Response(null, { status: 402, headers: { ...order.paymentRequired } });
  return sign(wallet, await challengeFrom(await requiredIn(required), order.storefront.checkoutUrl, await tokens()));
}

/** While a process of the service that has ended leases the order, for at most 90 seconds, the service refuses calls about it. */
async function placeOnce({ service }: Context, body: PlaceOrder, until: number, signal?: AbortSignal): Promise<PlacedOrder> {
  for (;;) {
    try {
      return (await service.call("placeOrder", { body }, { signal })).body;
    } catch (error) {
      const isLeased = error instanceof ServiceRefused && error.code === "idempotency_in_flight";
      if (!isLeased || Date.now() >= until) throw error;
      await pause(POLL_MS, signal);
    }
  }
}

/**
 * Places an order at a storefront: repeats one call until the order is complete, and waits for a person if one must approve.
 * @throws PaymentDenied; OrderNotPlaced, also if the order is still `processing` five minutes after the call or after the
 * approval; and the errors of awaitApproval
 */
export async function placeOrder(context: Context, { operation, signal, ...order }: Order): Promise<PlacedOrder> {
  const { mandateId } = context;
  const base = { ...order, mandateId, idempotencyKey: await keyOf(operation) };
  let until = Date.now() + LIMIT_MS;
  let paymentCredential: string | undefined;
  for (;;) {
    const body = { ...base, ...(paymentCredential !== undefined && { paymentCredential }) };
    const placed = await placeOnce(context, body, until, signal);
    const { status, nextAction, authorization } = placed;
    if (status === "completed") return placed;
    if (status === "denied" && authorization) throw new PaymentDenied(authorization, context.service.origin);
    if (status === "paymentCredentialRequired" && paymentCredential === undefined) {
      paymentCredential = await signOrder(context, placed);
    } else if (status === "approvalRequired" && nextAction.url !== undefined) {
      if (await awaitApproval(context, nextAction.url, signal)) until = Date.now() + LIMIT_MS;
      // The approval was given before: another order asked for it, and has not used it yet.
      else if (Date.now() >= until) throw new OrderNotPlaced(placed);
      else await pause(POLL_MS, signal);
    } else if (status === "processing" && Date.now() < until) {
      // The service asks for repeats without the signed payment.
      paymentCredential = undefined;
      await pause(POLL_MS, signal);
    } else throw new OrderNotPlaced(placed, context.wallet?.address);
  }
}
