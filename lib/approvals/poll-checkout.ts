import type { Call } from "#lib/call-schema.ts";

/** Defined here and not in the contract in `commerce`, because this module uses it and may not import `commerce`. */
export const CHECKOUT_PATH = "/api/v1/agent/commerce/checkouts/{checkoutIntentId}";
const WAIT_SECONDS = 30;

export const checkoutPath = ({ path }: { readonly path: string }, checkoutIntentId: string): string =>
  path.replace("{checkoutIntentId}", checkoutIntentId);

export const pollCheckout = (checkoutIntentId: string): Call => ({
  method: "GET",
  path: `${checkoutPath({ path: CHECKOUT_PATH }, checkoutIntentId)}?waitSeconds=${WAIT_SECONDS}`,
});
