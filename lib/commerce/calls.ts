import { getCheckout } from "#lib/commerce/contract.ts";
import { continueCheckout, placeOrder } from "#lib/commerce/order-contract.ts";
import type { Call } from "#lib/http/call-schema.ts";
import { executePayment } from "#lib/payments/contract.ts";

/* What agents are told to call next. */

const WAIT_SECONDS = 30;

const checkoutPath = ({ path }: { readonly path: string }, checkoutIntentId: string): string =>
  path.replace("{checkoutIntentId}", checkoutIntentId);

export const pollCheckout = (checkoutIntentId: string): Call => ({
  method: "GET",
  path: `${checkoutPath(getCheckout, checkoutIntentId)}?waitSeconds=${WAIT_SECONDS}`,
});

/** One authorization is paid once, so its id is a key under which every repeat is the same attempt. */
export const execute = (authorizationId: string): Call => ({
  method: "POST",
  path: executePayment.path,
  body: { authorizationId, idempotencyKey: authorizationId },
});

type Order = {
  readonly storefrontUrl: string;
  readonly mandateId: string;
  readonly items: unknown;
  readonly idempotencyKey: string;
};

/** The call that placed an order, again. */
export const placeAgain = ({ storefrontUrl, mandateId, items, idempotencyKey }: Order): Call => ({
  method: "POST",
  path: placeOrder.path,
  body: { storefrontUrl, mandateId, items, idempotencyKey },
});

export const redeem = (checkoutIntentId: string, continuationToken: string): Call => ({
  method: "POST",
  path: checkoutPath(continueCheckout, checkoutIntentId),
  body: { continuationToken, idempotencyKey: checkoutIntentId },
});
