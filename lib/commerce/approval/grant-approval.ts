import type { AuditEvent } from "#lib/audit/chain.ts";
import { approvalEnd, checkoutChanged, decideApproval, sameTerms, stepUpRequired } from "#lib/approvals/decision/approval.ts";
import { approvalMail } from "#lib/commerce/approval/approval-mail.ts";
import { decisionOn, type ApprovalRow, type CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { continuationHash, continuationTokenOf } from "#lib/commerce/continuation-token.ts";
import { saveGrant } from "#lib/approvals/decision/batch-store.ts";
import type { LockedCheckout } from "#lib/approvals/decision/locked-checkout.ts";
import { newId } from "#lib/ids.ts";
import { reaches } from "#lib/mandates/policy/assurance.ts";
import type { Decision } from "#lib/mandates/policy/facts.ts";
import { mailRow } from "#lib/mail/queue-mail.ts";
import type { PurchaseDecision, Purchase, PurchaseRecord } from "#lib/payments/queue-item.ts";
import { notFound, Problem } from "#lib/problem.ts";
import { earliest } from "#lib/time.ts";
import type { ApprovalStatus, CheckoutStatus } from "#lib/vocabulary.ts";

export type Approver = { readonly userId: string; readonly sessionId: string; readonly requestId: string };

type Approve = {
  readonly checkout: CheckoutRow;
  readonly mandateId: string;
  readonly approver: Approver;
  readonly hasKey: boolean;
  /** The approval ends at this time or earlier. */
  readonly payableUntil: Date;
  readonly serialize: (checkout: CheckoutRow, approval: ApprovalRow, now: Date) => string;
};

export const noMatchingMandate = (detail: string): Problem =>
  new Problem("no_matching_mandate", {
    detail,
    nextActions: [{ type: "create_mandate", label: "Change a mandate or make one", href: "/mandates" }],
  });

/** The queue decides the approval, and makes the hold if there is none, in one transaction that locks mandate and checkout. */
export function approvalOf(approve: Approve): Purchase {
  const { checkout } = approve;
  return {
    checkoutIntentId: checkout.checkoutIntentId,
    orderId: null,
    capability: "checkouts:approve",
    agentId: checkout.ownerSubjectId,
    approvedByPerson: true,
    hasKey: approve.hasKey,
    hasHold: checkout.authorizationId !== null,
    checkout: null,
    precheck: (locked, now) => repeat(approve, required(locked), now),
    record: (decided, locked, now) => grant(approve, required(locked), decided, now),
  };
}

function required(locked: LockedCheckout | null): LockedCheckout {
  if (!locked) throw notFound("checkout");
  return locked;
}

/** Null if the checkout is not approved yet, so that the mandate's policy has to decide. */
function repeat({ mandateId, serialize, checkout: known }: Approve, locked: LockedCheckout, now: Date): PurchaseRecord | null {
  const { checkout, approval } = locked;
  // `known` was read before the lock: if it has changed since, the person would approve something else.
  if (!sameTerms(known, checkout) || (!approval && known.authorizationId !== checkout.authorizationId)) throw checkoutChanged();
  const facts = {
    checkout: { ...checkout, status: checkout.status as CheckoutStatus },
    approval: approval && { ...approval, status: approval.status as ApprovalStatus },
    review: locked.review,
    stepUp: locked.stepUp,
    mandateId,
  };
  if (decideApproval(facts, now) === "grant" || !approval) return null;
  return { status: 200, body: serialize(checkout, approval, now), events: [], write: () => [] };
}

/** If only the signature of a passkey is missing, the person is asked for it instead of a denial. */
function requirePasskey({ decision, assuranceAsked }: PurchaseDecision, { assuranceLevel }: LockedCheckout): void {
  const denials = decision.reasons.filter(({ effect }) => effect === "deny");
  const short = denials.length > 0 && denials.every(({ code }) => code === "assurance_too_low");
  if (!short || assuranceAsked !== "passkeyApproved" || reaches(assuranceLevel, assuranceAsked)) return;
  throw stepUpRequired("passkey");
}

function requireCovered({ outcome, reasons }: Decision): void {
  if (outcome !== "deny") return;
  throw noMatchingMandate(`This mandate does not cover the checkout. ${reasons[0]?.message ?? ""}`.trim());
}

function grant(approve: Approve, locked: LockedCheckout, decided: PurchaseDecision, now: Date): PurchaseRecord {
  const { mandateId } = approve;
  const { checkout } = locked;
  requirePasskey(decided, locked);
  requireCovered(decided.decision);
  if (checkout.authorizationId !== null && locked.held?.status !== "held") {
    throw noMatchingMandate("What was held for this payment has been released. Ask your agent to authorize it again.");
  }
  const approval = newApproval(approve, locked, decided, now);
  const mail = locked.approverEmail === null ? null : mailRow(approvalMail(locked.approverEmail, checkout, approval));
  const approved: CheckoutRow = { ...checkout, status: "approved", mandateId, authorizationId: decided.authorizationId };
  return {
    status: 200,
    body: approve.serialize(approved, approval, now),
    events: eventsOf(approve.approver, approved, approval, now),
    write: (c) => [saveGrant(c, { approval, stepUpId: locked.stepUpId, heldId: locked.held?.authorizationId ?? null, mail })],
  };
}

function newApproval(
  { approver, mandateId, payableUntil }: Approve,
  { checkout, assuranceLevel }: LockedCheckout,
  { authorizationId, body, expiresAt, validUntil }: PurchaseDecision,
  now: Date,
): ApprovalRow {
  const continuationTokenId = newId("continuationToken");
  return {
    ...decisionOn(checkout, approver.userId, now),
    status: "pending",
    reason: null,
    mandateId,
    assuranceLevel,
    authorizationId,
    continuationTokenId,
    continuationTokenHash: continuationHash(continuationTokenOf(continuationTokenId)),
    continuationTokenStatus: "active",
    // saveGrant gives an existing reservation this expiry; the expiry of an authorization that this approval makes limits it.
    expiresAt: earliest(
      approvalEnd(checkout, now),
      payableUntil,
      ...(body === null ? [] : [expiresAt]),
      ...(validUntil ? [validUntil] : []),
    ),
    resolvedAt: null,
  };
}

function eventsOf({ userId, requestId }: Approver, checkout: CheckoutRow, approval: ApprovalRow, now: Date): AuditEvent[] {
  const { checkoutIntentId, organizationId, basketHash } = checkout;
  const { approvalId, mandateId, authorizationId, continuationTokenId } = approval;
  const happened = { actorId: userId, organizationId, subjectId: checkout.ownerSubjectId, createdAt: now };
  return [
    {
      ...happened,
      auditEventId: newId("audit"),
      type: "checkout.approved",
      entityType: "checkout",
      entityId: checkoutIntentId,
      metadata: {
        requestId,
        approvalId,
        mandateId,
        authorizationId,
        basketHash,
        amountAtomic: approval.approvedAmount.toString(),
        asset: checkout.asset,
        chain: checkout.chain,
        payTo: checkout.payTo,
        assuranceLevel: approval.assuranceLevel,
      },
    },
    {
      ...happened,
      auditEventId: newId("audit"),
      type: "continuation.minted",
      entityType: "continuation",
      entityId: continuationTokenId ?? "",
      metadata: { requestId, checkoutIntentId, approvalId },
    },
  ];
}
