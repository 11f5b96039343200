import { checkoutPath } from "#lib/approvals/poll-checkout.ts";
import { continueCheckout, placeOrder } from "#lib/commerce/order-contract.ts";
import type { Call } from "#lib/call-schema.ts";

type Order = {
  readonly storefrontUrl: string;
  readonly mandateId: string;
  readonly items: unknown;
  readonly idempotencyKey: string;
};

export const placeAgain = ({ storefrontUrl, mandateId, items, idempotencyKey }: Order): Call => ({
  method: "POST",
  path: placeOrder.path,
  body: { storefrontUrl, mandateId, items, idempotencyKey },
});

export const redeemCall = (checkoutIntentId: string, continuationToken: string): Call => ({
  method: "POST",
  path: checkoutPath(continueCheckout, checkoutIntentId),
  body: { continuationToken, idempotencyKey: checkoutIntentId },
});
