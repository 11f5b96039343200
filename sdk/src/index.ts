import { tokensOf, type Token } from "./challenge.ts";
import type { Context, CountersignOptions } from "./context.ts";
import { keyOf } from "./context.ts";
import { makeCredential, type CredentialOptions } from "./credential.ts";
import { authorizeElsewhere, recordPart, type Elsewhere, type Part } from "./elsewhere.ts";
import { CountersignError } from "./errors.ts";
import type { Event, Operations, Receipt, Remaining } from "./operations.ts";
import { placeOrder, type Order } from "./order.ts";
import { payFetch, type PayInit } from "./pay.ts";
import { connect, isHttp, isKey, publishedKeys } from "./service.ts";
import { verifyReceipt, type Verdict } from "./verify-receipt.ts";
import { verifyWebhook, type WebhookHeaders, type WebhookOptions } from "./webhook.ts";

export type { ApprovalRequest, CountersignOptions } from "./context.ts";
export type { Credential, CredentialOptions } from "./credential.ts";
export type { AuthorizedElsewhere, Elsewhere, Part } from "./elsewhere.ts";
export * from "./errors.ts";
export type * from "./operations.ts";
export { OrderNotPlaced, type Order } from "./order.ts";
export { parseJson } from "./parse-json.ts";
export type { PayInit, PayOptions } from "./pay.ts";
export type { Api, CallOptions } from "./service.ts";
export type { Wallet } from "./sign.ts";
export { verifyReceipt, type Verdict } from "./verify-receipt.ts";
export { verifyWebhook, WebhookRefused, type WebhookHeaders, type WebhookOptions } from "./webhook.ts";

type PaymentsQuery = Omit<NonNullable<Operations["listPayments"]["request"]["query"]>, "mandateId" | "idempotencyKey"> & {
  readonly operation?: string;
  readonly signal?: AbortSignal;
};

const HOUR_SECONDS = 3_600;
const FOLLOW_SECONDS = 20;
const SELLER_SECONDS = 120;

export type Countersign = ReturnType<typeof countersign>;

/** @throws CountersignError if an option is empty, as from a variable that is not set, or is not an http address or a key */
function requireOptions({ url, apiKey, mandateId }: CountersignOptions): void {
  if (!isHttp(url)) throw new CountersignError(`url must be the service's address with http:// or https://, and not "${url}".`);
  if (!apiKey) throw new CountersignError("apiKey is missing. It is the API key of the agent's service account.");
  if (!isKey(apiKey.trim())) throw new CountersignError("apiKey contains a character that no key has. Copy the key again.");
  if (!mandateId)
    throw new CountersignError("mandateId is missing. It is the id of the mandate that pays, and begins with mdt_.");
}

/** A client that pays under one mandate. @throws CountersignError if an option is empty, or not an http address or a key */
export function countersign(options: CountersignOptions) {
  requireOptions(options);
  const { mandateId, wallet, onApproval, expiresInSeconds = HOUR_SECONDS, followSeconds = FOLLOW_SECONDS } = options;
  const { sellerSeconds = SELLER_SECONDS, webhookKeys = [] } = options;
  const service = connect(options);
  const { api, origin } = service;
  let only: readonly Token[] | undefined;

  const budget = ({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Remaining> =>
    api.getRemaining({ id: mandateId }, { signal });

  const context: Context = {
    service,
    mandateId,
    expiresInSeconds,
    followSeconds,
    sellerSeconds,
    tokens: async (signal) => {
      if (only) return only;
      const remaining = await budget(signal ? { signal } : {});
      // A mandate without a unit pays in one token for life, so that is kept.
      if (remaining.unit === undefined) only = tokensOf(remaining);
      return only ?? tokensOf(remaining);
    },
    ...(wallet && { wallet }),
    ...(onApproval && { onApproval }),
  };

  return {
    /** A fetch that pays if the seller asks for it: same arguments, same Response, and an `operation` that names the purchase. */
    fetch: (input: string | URL | Request, init?: PayInit): Promise<Response> => payFetch(context, input, init),
    order: (order: Order) => placeOrder(context, order),
    /** Holds the amount of a payment that you make by other means, such as a transfer. Pay only after it returns. */
    authorize: (payment: Elsewhere) => authorizeElsewhere(context, payment),
    /** Records a part of what you paid by other means. What is not recorded stays held until a person closes the payment. */
    record: (part: Part) => recordPart(context, part),
    /** What remains of each limit of the mandate, and when a person is asked. */
    budget,
    /** The requests to pay under the mandate and their executions, newest first, or those of one operation. */
    payments: async ({ operation, signal, ...query }: PaymentsQuery = {}) =>
      api.listPayments(
        { query: { ...query, mandateId, ...(operation !== undefined && { idempotencyKey: await keyOf(operation) }) } },
        { signal },
      ),
    /** Checks a receipt with WebCrypto alone, by the keys that the service publishes or by keys that you saved. */
    verifyReceipt: async (receipt: Receipt, jwks?: unknown): Promise<Verdict> =>
      verifyReceipt(receipt, jwks ?? (await publishedKeys(origin, service.fetch))),
    /** Verifies a message to your webhook endpoint with WebCrypto alone, and returns its event. Needs `webhookKeys`. */
    verifyWebhook: (headers: WebhookHeaders, body: string | Uint8Array, how?: WebhookOptions): Promise<Event> =>
      verifyWebhook(headers, body, webhookKeys, how),
    /** Pays x402's PaymentRequired or MPP's challenges that did not arrive as an answer to pay.fetch. Adapters use it. */
    credential: (paymentRequired: unknown, how: CredentialOptions) => makeCredential(context, paymentRequired, how),
    /** Every operation of the API. */
    api,
  };
}
