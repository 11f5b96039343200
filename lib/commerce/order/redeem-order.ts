import { clock, transact } from "#lib/audit/transact.ts";
import { canonicalJson } from "#lib/canonical-json.ts";
import { intentToRepeat } from "#lib/approvals/intent-of-checkout.ts";
import { closeCheckout, openToClose } from "#lib/approvals/close-checkout.ts";
import { decideOrder, offerInTime, reload, requireLease } from "#lib/commerce/order/quote-order.ts";
import type { BoundTerms } from "#lib/approvals/decision/approval.ts";
import { amountOf, type Offer } from "#lib/commerce/order/offer.ts";
import { changeOrder, type OrderRow } from "#lib/commerce/order/order-store.ts";
import type { OrderCall, StepResult } from "#lib/commerce/order/order-call.ts";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { findAuthorization } from "#lib/holds/execution-store.ts";
import type { Purchase } from "#lib/payments/queue-item.ts";

/** The id of the quote is left out, because a new quote with the same terms has a different id. */
const termsText = (offer: Offer): string =>
  canonicalJson({
    basketHash: offer.basketHash,
    amount: offer.quote.amount,
    payTo: offer.storefront.payTo,
    asset: offer.storefront.asset.tokenAddress,
    chain: offer.storefront.asset.chain,
    seller: offer.seller?.sellerId ?? offer.storefront.domain,
    accepts: offer.challenge.accepts,
    url: offer.challenge.resource?.url,
    mismatches: offer.mismatches.length,
  });

/** The offer, with a new quote if the old quote has expired. Null if the new quote has other terms. */
async function stillOffered(order: OrderRow, offer: Offer, on: OrderCall, now: Date): Promise<Offer | null> {
  if (new Date(offer.quote.expiresAt) > now) return offer;
  const fresh = await offerInTime(order, on, offer.checkoutKey);
  return termsText(fresh) === termsText(offer) ? fresh : null;
}

/** Uses the approval for exactly the approved terms; the policy decides again, but does not ask for another approval. */
export async function redeem(order: OrderRow, on: OrderCall): Promise<StepResult> {
  const { orderId, checkoutIntentId, authorizationId, mandateId, subjectId } = order;
  const offer = order.offer as Offer | null;
  const authorization = authorizationId && (await findAuthorization(database(), on.caller, authorizationId));
  if (!offer || !authorization || checkoutIntentId === null) throw new Error("An approved order has no authorization.");
  const fresh = await stillOffered(order, offer, on, await clock(database()));
  if (!fresh) return supersede(order, on);
  const { asset } = fresh.storefront;
  const { basketHash } = fresh;
  const terms: BoundTerms = {
    basketHash,
    amount: amountOf(fresh),
    asset: asset.asset,
    chain: asset.chain,
    payTo: fresh.storefront.payTo,
    mandateId,
    agentId: subjectId,
  };
  const purchase: Purchase = {
    kind: "continuation",
    orderId,
    lease: on.lease,
    offer: fresh,
    checkoutIntentId,
    terms,
    quoteExpiresAt: new Date(fresh.quote.expiresAt),
    authorization,
  };
  const intent = { ...intentToRepeat(authorization.intent), expiresAt: fresh.quote.expiresAt };
  const slot = newId("request");
  await decideOrder(on, order, { slot, fingerprint: order.fingerprint, mandateId, intent }, purchase);
  const reloaded = await reload(order, on);
  if (reloaded.status === "denied") await release(reloaded, on);
  return { order: reloaded, goOn: true };
}

/** Closes the checkout if it is still approved, which ends the approval and releases the reserved amount. */
async function release(order: OrderRow, on: OrderCall): Promise<void> {
  const { checkoutIntentId, orderId } = order;
  if (checkoutIntentId === null) return;
  await transact(async (tx) => {
    const opened = await openToClose(tx, on.caller, checkoutIntentId);
    if (opened.checkout.status !== "approved") return;
    const close = { status: "superseded", actorId: on.caller.subjectId, metadata: { requestId: on.requestId, orderId } } as const;
    await closeCheckout(tx, opened, close, await clock(tx));
  });
}

export async function supersede(order: OrderRow, on: OrderCall): Promise<StepResult> {
  await release(order, on);
  const changed = await changeOrder(database(), order.orderId, on.lease, { status: "quoteChanged" });
  return { order: requireLease(changed), goOn: false };
}
