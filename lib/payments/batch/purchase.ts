import type { Grant, OrderDecision, OrderRedemption } from "#lib/approvals/decision/batch-store.ts";
import type { LockedCheckout } from "#lib/approvals/decision/locked-checkout.ts";
import type { AuditEvent } from "#lib/audit/chain.ts";
import type { Decision } from "#lib/mandates/policy/facts.ts";
import { approve, approvedBefore } from "#lib/payments/batch/approve.ts";
import { place } from "#lib/payments/batch/place.ts";
import { redeemForOrder, requireApproved } from "#lib/payments/batch/redeem.ts";
import type { Item, Purchase } from "#lib/payments/queue-item.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

export type PurchaseDecision = {
  readonly decision: Decision;
  /** The highest assurance level that the policy, the seller or the resource requires. */
  readonly assuranceAsked: AssuranceLevel;
  readonly authorizationId: string;
  readonly expiresAt: Date;
  /** The end of the mandate; null if it has none. No approval is valid after this time. */
  readonly validUntil: Date | null;
  /** Until when a payment that is made elsewhere must be recorded. */
  readonly deadline: Date;
  /** The reply body of authorizePayment; null if an earlier authorization continues. */
  readonly body: string | null;
  /** The checkout in which a person is asked, also that of an earlier payment with the same question; null if none is asked. */
  readonly checkoutIntentId: string | null;
};

/** The rows, events and reply of an approval, a continuation or an order, which are saved with its authorization. */
export type PurchaseRecord = {
  readonly status: number;
  readonly body: string;
  readonly events: readonly AuditEvent[];
  readonly grant?: Grant;
  readonly decided?: OrderDecision;
  readonly redeemed?: OrderRedemption;
  readonly refused?: Pick<OrderDecision, "orderId" | "lease">;
};

export type Deciding = { readonly item: Item; readonly locked: LockedCheckout | null; readonly now: Date };
export type Decided = Deciding & { readonly decided: PurchaseDecision };

/** Under the locks and before the policy. Returns what replaces the decision, or null. @throws Problem */
export function beforeDeciding(by: Deciding, purchase: Purchase): PurchaseRecord | null {
  if (purchase.kind === "approval") return approvedBefore(by, purchase);
  if (purchase.kind === "continuation") requireApproved(by, purchase);
  return null;
}

/** @throws Problem if nothing must be written for this payment */
export function recordOf(by: Decided, purchase: Purchase): PurchaseRecord {
  if (purchase.kind === "approval") return approve(by, purchase);
  return purchase.kind === "continuation" ? redeemForOrder(by, purchase) : place(by, purchase);
}
