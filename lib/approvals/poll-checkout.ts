import type { Call } from "#lib/call-schema.ts";

/** The path of getCheckout. It is here so that payments can name it without the module of the operation. */
export const CHECKOUT_PATH = "/api/v1/agent/commerce/checkouts/{checkoutIntentId}";
const WAIT_SECONDS = 30;

export const checkoutPath = ({ path }: { readonly path: string }, checkoutIntentId: string): string =>
  path.replace("{checkoutIntentId}", checkoutIntentId);

/** The call that waits for the decision of a person. */
export const pollCheckout = (checkoutIntentId: string): Call => ({
  method: "GET",
  path: `${checkoutPath({ path: CHECKOUT_PATH }, checkoutIntentId)}?waitSeconds=${WAIT_SECONDS}`,
});
