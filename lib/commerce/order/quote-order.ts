import { createHash } from "node:crypto";
import { clock } from "#lib/audit/transact.ts";
import { findOffer, type Offer } from "#lib/commerce/order/offer.ts";
import { changeOrder, rejectedLately, type OrderRow } from "#lib/commerce/order/order-store.ts";
import type { OrderCall, StepResult } from "#lib/commerce/order/order-call.ts";
import { database } from "#lib/db/client.ts";
import { inFlight } from "#lib/command/idempotency.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { presentMandate } from "#lib/mandates/present-mandate.ts";
import { findMandate, reading } from "#lib/mandates/store.ts";
import { submitItem } from "#lib/payments/authorize-payment.ts";
import type { NamedIntent } from "#lib/payment-intent.ts";
import type { Asker, Purchase } from "#lib/payments/queue-item.ts";
import { storefrontUnavailable } from "#lib/outbound/storefront-problem.ts";
import { notFound, Problem } from "#lib/problem.ts";
import type { AskedItem } from "#lib/storefront/read-quote.ts";
import { atMost, earliest, minutes } from "#lib/time.ts";

/** Intents that expire in more than 24 hours are refused (INTENT_AHEAD_MS). */
const INTENT_MS = minutes(23 * 60);

/** `order` is null if another call or worker has taken the lease. @throws Problem idempotency_in_flight */
export function requireLease(order: OrderRow | null): OrderRow {
  if (!order) throw inFlight();
  return order;
}

const askerOf = ({ caller }: OrderCall): Asker =>
  caller.kind === "key"
    ? { kind: "key", subjectId: caller.serviceAccountId, keyId: caller.keyId }
    : { kind: "session", subjectId: caller.userId, sessionId: caller.sessionId };

/** The requests to the storefront are not stopped; an offer that comes later is ignored. @throws Problem as findOffer */
export async function offerInTime(order: OrderRow, on: OrderCall, checkoutKey: string): Promise<Offer> {
  const { storefrontUrl, items } = order;
  const found = findOffer(storefrontUrl, items as readonly AskedItem[], on.caller.environment, checkoutKey);
  const offer = await atMost(found, Math.max(0, on.until - performance.now()), null);
  if (!offer) throw storefrontUnavailable(`${new URL(storefrontUrl).host} did not answer in time.`);
  return offer;
}

type Submit = { readonly slot: string; readonly fingerprint: string; readonly mandateId: string; readonly intent: NamedIntent };

/** Decides by the queue of authorizations (submitItem), because only its batches reserve amounts. @throws Problem */
export async function decideOrder(on: OrderCall, order: OrderRow, asked: Submit, purchase: Purchase): Promise<void> {
  const { organizationId, environment } = on.caller;
  const answer = await submitItem({
    ...asked,
    idempotencyKey: order.idempotencyKey,
    organizationId,
    environment,
    asker: askerOf(on),
    requestId: on.requestId,
    purchase,
  });
  if (answer.kind === "problem") throw answer.problem;
}

/** A draft, suspended or expired mandate must be made ready first; the policy itself denies a revoked one. */
async function mandateIsUsable({ caller }: OrderCall, mandateId: string): Promise<boolean> {
  const status = await reading(async (tx, now) => {
    const row = await findMandate(tx, caller, mandateId);
    return row && presentMandate(row, [], decimalsOf(row), now).status;
  });
  if (status === null) throw notFound("mandate");
  return !["draft", "suspended", "expired"].includes(status);
}

/** If the mandate cannot pay yet, the order gets the state setupRequired, and nothing is decided. */
export async function quoteAndDecide(order: OrderRow, on: OrderCall): Promise<StepResult> {
  const { orderId, mandateId, slot, fingerprint } = order;
  const usable = await mandateIsUsable(on, mandateId);
  const offer = await offerInTime(order, on, orderId);
  if (!usable) {
    const changed = await changeOrder(database(), orderId, on.lease, { status: "setupRequired", offer });
    return { order: requireLease(changed), goOn: false };
  }
  const now = await clock(database());
  if (new Date(offer.quote.expiresAt) <= now)
    throw new Problem("quote_expired", { detail: "The storefront's quote has expired already. Ask again." });
  const attempt = order.attempt + 1;
  const rejectedByPerson = await rejectedLately(database(), mandateId, offer.basketHash);
  const purchase: Purchase = {
    kind: "order",
    checkoutIntentId: null,
    orderId,
    lease: on.lease,
    offer,
    attempt,
    rejectedByPerson,
    mismatches: offer.mismatches.map(({ field, pointer }) => ({ field, pointer: `/challenge${pointer}` })),
    draft: {
      lines: offer.quote.lines,
      storefrontUrl: order.storefrontUrl,
      quoteId: offer.quote.quoteId,
      quoteExpiresAt: new Date(offer.quote.expiresAt),
      orderId,
      items: order.items,
      storefront: offer.storefront,
      createsFulfillmentOrder: offer.storefront.source === "manifest",
    },
  };
  const asked = {
    slot: createHash("sha256").update(`${slot}\n${attempt}`).digest("base64url"),
    fingerprint,
    mandateId,
    intent: intentOf(order, offer, attempt, now),
  };
  await decideOrder(on, order, asked, purchase);
  return { order: await reload(order, on), goOn: true };
}

export const reload = async ({ orderId }: OrderRow, { lease }: OrderCall): Promise<OrderRow> =>
  requireLease(await changeOrder(database(), orderId, lease, {}));

function intentOf({ orderId, metadata }: OrderRow, offer: Offer, attempt: number, now: Date): NamedIntent {
  const { storefront, seller, resourceId, quote, challenge } = offer;
  const id = attempt === 1 ? orderId : `${orderId}.${attempt}`;
  return {
    intentId: id,
    nonce: id,
    enforcementPath: "offchain",
    paymentChallengeType: "x402",
    seller: { ...(seller && { sellerId: seller.sellerId }), domain: storefront.domain },
    ...(seller && resourceId !== null && { resource: { resourceId, sellerId: seller.sellerId } }),
    amount: quote.amount,
    asset: storefront.asset.asset,
    chain: storefront.asset.chain,
    payTo: storefront.payTo,
    challenge,
    ...(metadata && { metadata }),
    expiresAt: earliest(new Date(quote.expiresAt), new Date(now.getTime() + INTENT_MS)).toISOString(),
  };
}
