import { fetchWithin } from "./bounded.ts";
import { priceOf, type Challenge } from "./challenge.ts";
import { keyOf, type Context } from "./context.ts";
import { ChallengeRefused, SellerUnreachable, ServiceRefused } from "./errors.ts";
import { endOf, executing, type Seen } from "./execute.ts";
import { isExpired } from "./mpp.ts";
import type { Authorization, PaymentExecution } from "./operations.ts";
import { follow, samePurchase, type Transport } from "./purchase/follow.ts";
import { noFacts } from "./purchase/step.ts";
import { challengeOf, headersFor, requiredIn } from "./required.ts";
import { isHttp, whyUnreachable } from "./service.ts";
import { showCredential } from "./show.ts";

export type PayOptions = {
  /**
   * The name of this purchase. A call with the same name is the same purchase: after a crash it pays once. Without a name every
   * call is a purchase of its own.
   */
  readonly operation?: string;
  /**
   * The ids under which seller and resource are registered at the service. Leave both out for a seller that is not registered.
   */
  readonly sellerId?: string;
  readonly resourceId?: string;
  /** What the payment is for, up to 140 characters, for a person who is asked. */
  readonly purpose?: string;
};

export type PayInit = RequestInit & PayOptions;

type Purchase = PayOptions & { readonly key: string; readonly challenge: Challenge };

/** The intent that is authorized, and the terms by which it is found again. */
async function intentOf(context: Context, { key, challenge, sellerId, resourceId, purpose }: Purchase, signal: AbortSignal) {
  const { required, offer } = challenge;
  const intent = {
    idempotencyKey: key,
    seller: sellerId === undefined ? {} : { sellerId },
    ...(resourceId !== undefined && { resource: { resourceId } }),
    ...(sellerId === undefined && { payTo: offer.payTo }),
    ...priceOf(offer, await context.tokens(signal)),
    challenge: required,
    ...(purpose !== undefined && { metadata: { purpose } }),
    expiresAt: new Date(Date.now() + context.expiresInSeconds * 1_000).toISOString(),
  };
  return { intent, terms: { ...intent, url: required.resource.url, payTo: offer.payTo } };
}

/** Authorizes the purchase, as an earlier call did if the seller's 402 has changed since or has expired. */
function authorizing(context: Context, purchase: Purchase, seen: Seen, signal: AbortSignal): Transport<PaymentExecution> {
  const { service, mandateId } = context;
  return {
    async authorize({ from }, facts) {
      const { intent, terms } = await intentOf(context, purchase, signal);
      if (from === "earlier") {
        const query = { idempotencyKey: intent.idempotencyKey, mandateId };
        const { items } = await service.api.listPayments({ query }, { signal });
        const earlier = samePurchase(items, terms);
        if (!earlier) return { ...facts, key: "unused" };
        seen.own = earlier.authorization;
        return { ...facts, authorization: seen.own };
      }
      try {
        const { body, replayed } = await service.call("authorizePayment", { body: { mandateId, intent } }, { signal });
        seen.own = body;
        const mayBePaid = replayed || body.policyDecision.outcome === "requireApproval";
        return { ...facts, authorization: body, executions: mayBePaid ? null : [] };
      } catch (error) {
        seen.refusal = error;
        if (!(error instanceof ServiceRefused) || error.code !== "idempotency_key_reused") throw error;
        return { ...facts, key: "reused" };
      }
    },
  };
}

/** @throws ChallengeRefused */
export function requireBothIds({ sellerId, resourceId }: PayOptions): void {
  if ((sellerId === undefined) !== (resourceId === undefined))
    throw new ChallengeRefused("Name sellerId and resourceId, or neither.");
}

/** An authorization and its execution, which contains the credential. */
export type Paid = { readonly authorization: Authorization; readonly execution: PaymentExecution };

/**
 * Authorizes the payment that a challenge asks for, waits for a person if one must approve, and executes it once.
 * @throws the errors of its steps, and PaymentDenied, AuthorizationEnded, PaymentFailed or NotServed if it ends otherwise
 */
export async function payChallenge(
  context: Context,
  challenge: Challenge,
  { operation, sellerId, resourceId, purpose }: PayOptions,
  signal: AbortSignal,
): Promise<Paid> {
  const purchase = { key: await keyOf(operation), challenge, sellerId, resourceId, purpose } as Purchase;
  const seen: Seen = {};
  const key = operation === undefined ? "new" : "named";
  const offer = challenge.mpp && isExpired(challenge.mpp) ? "expired" : "payable";
  const end = await follow<PaymentExecution>(
    { ...noFacts, key, offer },
    { ...authorizing(context, purchase, seen, signal), ...executing(context, challenge, seen, signal) },
  );
  if (end.step.step !== "show" || !seen.own) throw endOf(context, end, seen);
  const { execution } = end.step;
  return { authorization: { ...seen.own, authorizationId: execution.authorizationId }, execution };
}

/** The seller's answer to the request without a payment. @throws SellerUnreachable, or the signal's reason */
async function askUnpaid({ service, sellerSeconds }: Context, request: Request): Promise<Response> {
  try {
    return await fetchWithin(sellerSeconds * 1_000, service.fetch, request.clone());
  } catch (cause) {
    request.signal.throwIfAborted();
    if (!isHttp(request.url)) throw new SellerUnreachable(`${request.url} does not begin with http:// or https://.`, { cause });
    const { host } = new URL(request.url);
    throw new SellerUnreachable(`The seller at ${host} cannot be reached: ${whyUnreachable(cause)}. Nothing was paid.`, {
      cause,
    });
  }
}

export async function payFetch(context: Context, input: string | URL | Request, init: PayInit = {}): Promise<Response> {
  const { operation, sellerId, resourceId, purpose, ...rest } = init;
  const options = { operation, sellerId, resourceId, purpose } as PayOptions;
  requireBothIds(options);
  if (typeof input === "string" && !URL.canParse(input))
    throw new TypeError(`pay.fetch needs the whole URL, such as https://api.example.com/report. This is none: "${input}"`);
  const request = new Request(input, rest);
  const { signal } = request;
  const unpaid = await askUnpaid(context, request);
  if (unpaid.status !== 402) return unpaid;
  const url = unpaid.url === "" ? request.url : unpaid.url;
  const challenge = await challengeOf(context, await requiredIn(unpaid), url, signal);
  // fetch takes the Authorization header, which has MPP's credential, off a request that is redirected to another origin.
  if (challenge.mpp && new URL(url).origin !== new URL(request.url).origin)
    throw new ChallengeRefused(`${request.url} redirects to another origin, where MPP cannot be paid. Call ${url} instead.`);
  const paid = await payChallenge(context, challenge, options, signal);
  return showCredential(context, { request, ...paid, headers: headersFor(challenge, paid.execution) }, signal);
}
