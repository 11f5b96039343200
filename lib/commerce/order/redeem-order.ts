import type { AuditEvent } from "#lib/audit/chain.ts";
import { clock, transact } from "#lib/audit/transact.ts";
import { canonicalJson } from "#lib/canonical-json.ts";
import { intentToRepeat } from "#lib/approvals/intent-of-checkout.ts";
import { closeCheckout, openToClose } from "#lib/approvals/close-checkout.ts";
import { decideOrder, noCheckout, offerInTime, reload, requireLease } from "#lib/commerce/order/quote-order.ts";
import type { LockedCheckout } from "#lib/approvals/decision/locked-checkout.ts";
import { amountOf, type Offer } from "#lib/commerce/order/offer.ts";
import { boundTo, type BoundTerms } from "#lib/commerce/order/order-state.ts";
import { changeOrder, saveRedeemed, saveRefused, type OrderRow } from "#lib/commerce/order/order-store.ts";
import type { OrderCall, StepResult } from "#lib/commerce/order/order-call.ts";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { approvalTakenBack } from "#lib/holds/execution-rules.ts";
import { findAuthorization, type AuthorizationRow } from "#lib/holds/execution-store.ts";
import type { Purchase, PurchaseDecision, PurchaseRecord } from "#lib/payments/queue-item.ts";
import { Problem } from "#lib/problem.ts";
import { earliest, minutes } from "#lib/time.ts";

const PAYABLE_MS = minutes(15);

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
    ...noCheckout,
    orderId,
    checkoutIntentId,
    capability: "orders:place",
    approvedByPerson: true,
    hasHold: true,
    precheck: (locked, now) => {
      requireApproved(locked, terms, authorization, now);
      return null;
    },
    record: (decided, locked, now) => redeemed({ order, on, offer: fresh, decided, locked, now }),
  };
  const intent = { ...intentToRepeat(authorization.intent), expiresAt: fresh.quote.expiresAt };
  const slot = newId("request");
  await decideOrder(on, order, { slot, fingerprint: order.fingerprint, mandateId, intent }, purchase);
  const reloaded = await reload(order, on);
  if (reloaded.status === "denied") await release(reloaded, on);
  return { order: reloaded, goOn: true };
}

const basketMismatch = (): Problem =>
  new Problem("approval_basket_mismatch", {
    detail: "The payment differs from what the buyer approved. Nothing was paid. Preview the basket again.",
  });

/** @throws Problem approval_basket_mismatch, approval_revoked, continuation_expired */
function requireApproved(locked: LockedCheckout | null, terms: BoundTerms, authorization: AuthorizationRow, now: Date): void {
  const { checkout, approval } = locked ?? {};
  if (approval && approval.takenBackBySubjectId !== null) throw approvalTakenBack();
  if (!checkout || !approval || checkout.status !== "approved" || approval.status !== "pending" || approval.expiresAt <= now) {
    throw new Problem("continuation_expired", { detail: "This approval has ended or was used. Ask the buyer again." });
  }
  const approved: BoundTerms = {
    basketHash: approval.approvedBasketHash,
    amount: approval.approvedAmount,
    asset: approval.approvedAsset,
    chain: approval.approvedChain,
    payTo: approval.approvedPayTo,
    mandateId: approval.mandateId ?? "",
    agentId: approval.agentId,
  };
  const { amount, asset, chain, payTo, mandateId, authorizationId } = authorization;
  const shown: BoundTerms = { ...approved, ...checkout, mandateId: checkout.mandateId ?? "" };
  const authorized: BoundTerms = { ...approved, amount, asset, chain, payTo: payTo ?? "", mandateId };
  const same = [terms, shown, authorized].every((each) => boundTo(approved, each));
  if (!same || approval.authorizationId !== authorizationId) throw basketMismatch();
}

type Redemption = {
  readonly order: OrderRow;
  readonly on: OrderCall;
  readonly offer: Offer;
  readonly decided: PurchaseDecision;
  readonly locked: LockedCheckout | null;
  readonly now: Date;
};

function redeemed({ order, on, offer, decided, locked, now }: Redemption): PurchaseRecord {
  const { orderId } = order;
  const approval = locked?.approval;
  if (!approval) throw basketMismatch();
  // The intent expires with the quote. The approval stays, because the next call can get another quote.
  if (decided.decision.denialCode === "intent_expired")
    throw new Problem("quote_expired", { detail: "The storefront's quote has expired already. Ask again." });
  // If the policy now denies the payment, the approval is not used, and `redeem` releases the reserved amount.
  if (decided.decision.outcome === "deny") {
    return { status: 200, body: "", events: [], write: (c) => [saveRefused(c, orderId, on.lease)] };
  }
  const { approvalId, checkoutIntentId, continuationTokenId, organizationId, agentId } = approval;
  const { authorizationId, validUntil } = decided;
  const inTime = new Date(now.getTime() + PAYABLE_MS);
  const payableUntil = earliest(new Date(offer.quote.expiresAt), inTime, ...(validUntil ? [validUntil] : []));
  const saved = { orderId, lease: on.lease, offer, approvalId, checkoutIntentId, authorizationId, payableUntil, at: now };
  const event: AuditEvent = {
    auditEventId: newId("audit"),
    type: "continuation.redeemed",
    actorId: on.caller.subjectId,
    organizationId,
    subjectId: agentId,
    entityType: "continuation",
    entityId: continuationTokenId ?? approvalId,
    metadata: { requestId: on.requestId, checkoutIntentId, approvalId, authorizationId, orderId },
    createdAt: now,
  };
  return { status: 200, body: "", events: [event], write: (c) => saveRedeemed(c, saved) };
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
