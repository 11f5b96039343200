import { boundTo, type BoundTerms } from "#lib/approvals/decision/approval.ts";
import { approvalTakenBack } from "#lib/holds/execution-rules.ts";
import { newId } from "#lib/ids.ts";
import type { Decided, Deciding, PurchaseRecord } from "#lib/payments/batch/purchase.ts";
import type { Continuation } from "#lib/payments/queue-item.ts";
import { Problem } from "#lib/problem.ts";
import { earliest, minutes } from "#lib/time.ts";

const PAYABLE_MS = minutes(15);

const basketMismatch = (): Problem =>
  new Problem("approval_basket_mismatch", {
    detail: "The payment differs from what the buyer approved. Nothing was paid. Preview the basket again.",
  });

/** @throws Problem approval_basket_mismatch, approval_revoked, continuation_expired */
export function requireApproved({ locked, now }: Deciding, { terms, authorization }: Continuation): void {
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

export function redeemForOrder({ item, locked, now, decided }: Decided, order: Continuation): PurchaseRecord {
  const { orderId, lease, offer, quoteExpiresAt } = order;
  const approval = locked?.approval;
  if (!approval) throw basketMismatch();
  // The intent expires with the quote. The approval stays, because the next call can get another quote.
  if (decided.decision.denialCode === "intent_expired")
    throw new Problem("quote_expired", { detail: "The storefront's quote has expired already. Ask again." });
  // If the policy now denies the payment, the approval is not used, and `redeem` of commerce releases the reserved amount.
  if (decided.decision.outcome === "deny") {
    return { status: 200, body: "", events: [], refused: { orderId, lease } };
  }
  const { approvalId, checkoutIntentId, continuationTokenId, organizationId, agentId } = approval;
  const { authorizationId, validUntil } = decided;
  const inTime = new Date(now.getTime() + PAYABLE_MS);
  const payableUntil = earliest(quoteExpiresAt, inTime, ...(validUntil ? [validUntil] : []));
  const redeemed = { orderId, lease, offer, approvalId, checkoutIntentId, authorizationId, payableUntil, at: now };
  const event = {
    auditEventId: newId("audit"),
    type: "continuation.redeemed",
    actorId: item.asker.subjectId,
    organizationId,
    subjectId: agentId,
    entityType: "continuation",
    entityId: continuationTokenId ?? approvalId,
    metadata: { requestId: item.requestId, checkoutIntentId, approvalId, authorizationId, orderId },
    createdAt: now,
  };
  return { status: 200, body: "", events: [event], redeemed };
}
