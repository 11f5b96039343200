import { awaitApproval } from "./approval.ts";
import { fetchWithin } from "./bounded.ts";
import { decimalAmount, type Challenge } from "./challenge.ts";
import { keyOf, type Context } from "./context.ts";
import { ChallengeRefused, PaymentDenied, SellerUnreachable, ServiceRefused } from "./errors.ts";
import { executeOnce } from "./execute.ts";
import { challengeExpired, isExpired } from "./mpp.ts";
import type { Authorization, Payment, PaymentExecution } from "./operations.ts";
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
type Authorized = { readonly authorization: Authorization; /** If true, it may have executions. */ readonly isRepeated: boolean };

async function authorize(context: Context, purchase: Purchase, signal: AbortSignal): Promise<Authorized> {
  const { service, mandateId, expiresInSeconds } = context;
  const { operation, key, challenge, sellerId, resourceId, purpose } = purchase;
  const { required, offer } = challenge;
  const token = await context.token(signal);
  const intent = {
    idempotencyKey: key,
    seller: sellerId === undefined ? {} : { sellerId },
    ...(resourceId !== undefined && { resource: { resourceId } }),
    ...(sellerId === undefined && { payTo: offer.payTo }),
    amount: decimalAmount(offer, token),
    asset: token.asset,
    chain: token.chain,
    challenge: required,
    ...(purpose !== undefined && { metadata: { purpose } }),
    expiresAt: new Date(Date.now() + expiresInSeconds * 1_000).toISOString(),
  };
  const terms = { ...intent, url: required.resource.url, payTo: offer.payTo };
  if (challenge.mpp && isExpired(challenge.mpp)) {
    const earlier = operation === undefined ? undefined : await findEarlier(context, key, terms, signal);
    if (!earlier) throw challengeExpired();
    return { authorization: earlier, isRepeated: true };
  }
  try {
    const { body, replayed } = await service.call("authorizePayment", { body: { mandateId, intent } }, { signal });
    return { authorization: body, isRepeated: replayed };
  } catch (error) {
    if (!(error instanceof ServiceRefused) || error.code !== "idempotency_key_reused") throw error;
    const earlier = await findEarlier(context, key, terms, signal);
    if (!earlier) throw error;
    return { authorization: earlier, isRepeated: true };
  }
}

type Terms = {
  readonly amount: string;
  readonly asset: string;
  readonly chain: string;
  readonly payTo: string;
  readonly url: string;
};

const urlOf = ({ challenge }: Payment["intent"]): unknown =>
  (challenge?.["resource"] as { readonly url?: unknown } | undefined)?.url;

/**
 * The authorization of an earlier call with this operation; undefined if there is none for the same purchase. A seller may change
 * parts of its 402 each time; the purchase is the same if amount, token, payee and URL are the same.
 */
async function findEarlier({ service, mandateId }: Context, key: string, terms: Terms, signal: AbortSignal) {
  const { items } = await service.api.listPayments({ query: { idempotencyKey: key, mandateId } }, { signal });
  const same = items.find(
    ({ intent }) =>
      intent.idempotencyKey === key &&
      intent.amount === terms.amount &&
      intent.asset === terms.asset &&
      intent.chain === terms.chain &&
      intent.payTo?.toLowerCase() === terms.payTo.toLowerCase() &&
      urlOf(intent) === terms.url,
  );
  return same?.authorization;
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
 * @throws PaymentDenied, and the errors of awaitApproval and executeOnce
 */
export async function payChallenge(
  context: Context,
  challenge: Challenge,
  { operation, sellerId, resourceId, purpose }: PayOptions,
  signal: AbortSignal,
): Promise<Paid> {
  const purchase = { operation, key: await keyOf(operation), challenge, sellerId, resourceId, purpose } as Purchase;
  const { authorization, isRepeated } = await authorize(context, purchase, signal);
  const { outcome } = authorization.policyDecision;
  if (outcome === "deny") throw new PaymentDenied(authorization, context.service.origin);
  const authorizationId =
    outcome === "requireApproval" ? await awaitApproval(context, authorization, signal) : authorization.authorizationId;
  const mayHaveExecutions = isRepeated || outcome === "requireApproval";
  const paid = { ...authorization, authorizationId };
  const execute = { authorization: paid, challenge, mayHaveExecutions, ownId: authorization.authorizationId };
  return { authorization: paid, execution: await executeOnce(context, execute, signal) };
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
