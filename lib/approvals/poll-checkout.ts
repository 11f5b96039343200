import { getCheckout } from "#lib/approvals/contract.ts";
import type { Call } from "#lib/call-schema.ts";

const WAIT_SECONDS = 30;

export const checkoutPath = ({ path }: { readonly path: string }, checkoutIntentId: string): string =>
  path.replace("{checkoutIntentId}", checkoutIntentId);

/** The call that waits for the decision of a person. */
export const pollCheckout = (checkoutIntentId: string): Call => ({
  method: "GET",
  path: `${checkoutPath(getCheckout, checkoutIntentId)}?waitSeconds=${WAIT_SECONDS}`,
});
