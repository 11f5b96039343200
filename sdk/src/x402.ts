import { x402Client, x402HTTPClient } from "@x402/core/client";
import type { Countersign } from "./index.ts";

export type X402Options = {
  /**
   * Returns the name of the purchase that a request makes. Requests with the same name make one purchase, which is paid once.
   * Default: each request is its own purchase.
   */
  readonly operation?: (request: { readonly url: string }) => string;
};

/**
 * A client for `wrapFetchWithPayment` of `@x402/fetch` that pays under the mandate of `pay`. Register no schemes on it, so that a
 * seller that refuses the credential is not paid in another way.
 *
 *     const fetchWithPayment = wrapFetchWithPayment(fetch, x402(pay));
 *
 * The errors of pay.fetch that come before the credential are thrown as they are. If the seller does not serve, the wrapped
 * fetch throws its own error or returns the seller's answer; pay.fetch also repeats the request and says whether the payment
 * was made.
 */
export function x402(pay: Countersign, { operation }: X402Options = {}): x402HTTPClient {
  // The standard client calls this only after the seller has refused the credential.
  const none = { scheme: "exact", createPaymentPayload: () => Promise.reject(new Error("The seller refused the credential.")) };
  const client = new x402Client().setSpendControls(false).register("eip155:*", none);
  return new x402HTTPClient(client).onPaymentRequired(async ({ paymentRequired, requestUrl: url }) => {
    const name = operation?.({ url });
    const { headers } = await pay.credential(paymentRequired, { url, ...(name !== undefined && { operation: name }) });
    return { headers: { ...headers } };
  });
}
