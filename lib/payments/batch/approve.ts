import type { AuditEvent } from "#lib/audit/chain.ts";
import {
  approvalEnd,
  checkoutChanged,
  decideApproval,
  noMatchingMandate,
  sameTerms,
  stepUpRequired,
} from "#lib/approvals/decision/approval.ts";
import { ApprovedCheckout } from "#lib/approvals/checkout-schema.ts";
import { decisionOn, type ApprovalRow, type CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { continuationHash, continuationTokenOf } from "#lib/approvals/decision/continuation-token.ts";
import type { LockedCheckout } from "#lib/approvals/decision/locked-checkout.ts";
import { newId } from "#lib/ids.ts";
import { reaches } from "#lib/mandates/policy/assurance.ts";
import type { Decision } from "#lib/mandates/policy/facts.ts";
import { mailRow } from "#lib/mail/queue-mail.ts";
import { presentApproval, presentCheckout } from "#lib/approvals/present-checkout.ts";
import { approvalMail } from "#lib/payments/batch/approval-mail.ts";
import type { Decided, Deciding, PurchaseDecision, PurchaseRecord } from "#lib/payments/batch/purchase.ts";
import type { Approval, Item } from "#lib/payments/queue-item.ts";
import { notFound } from "#lib/problem.ts";
import { earliest } from "#lib/time.ts";
import type { ApprovalStatus, CheckoutStatus } from "#lib/vocabulary.ts";

/** Null if the checkout is not approved yet, so that the mandate's policy has to decide. */
export function approvedBefore({ item, locked, now }: Deciding, { checkout: known, mandates }: Approval): PurchaseRecord | null {
  if (!locked) throw notFound("checkout");
  const { checkout, approval } = locked;
  // `known` was read before the lock: if it has changed since, the person would approve something else.
  if (!sameTerms(known, checkout) || (!approval && known.authorizationId !== checkout.authorizationId)) throw checkoutChanged();
  const facts = {
    checkout: { ...checkout, status: checkout.status as CheckoutStatus },
    approval: approval && { ...approval, status: approval.status as ApprovalStatus },
    review: locked.review,
    stepUp: locked.stepUp,
    mandateId: item.mandateId,
  };
  if (decideApproval(facts, now) === "grant" || !approval) return null;
  return { status: 200, body: bodyOf(checkout, approval, mandates, now), events: [] };
}

const bodyOf = (row: CheckoutRow, approval: ApprovalRow, mandates: Approval["mandates"], now: Date): string =>
  JSON.stringify(
    ApprovedCheckout.parse({
      intent: presentCheckout(row, now),
      approval: presentApproval(approval, row.tokenDecimals, now),
      mandates,
    }),
  );

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

export function approve({ item, locked, now, decided }: Decided, { mandates }: Approval): PurchaseRecord {
  if (!locked) throw notFound("checkout");
  const { mandateId } = item;
  const { checkout } = locked;
  requirePasskey(decided, locked);
  requireCovered(decided.decision);
  if (checkout.authorizationId !== null && locked.held?.status !== "held") {
    throw noMatchingMandate("What was held for this payment has been released. Ask your agent to authorize it again.");
  }
  const keptUntil = item.intent.paymentChallengeType === "record" ? decided.deadline : null;
  const approval = newApproval(item, locked, decided, now, keptUntil !== null);
  const mail = locked.approverEmail === null ? null : mailRow(approvalMail(locked.approverEmail, checkout, approval));
  const approved: CheckoutRow = { ...checkout, status: "approved", mandateId, authorizationId: decided.authorizationId };
  return {
    status: 200,
    body: bodyOf(approved, approval, mandates, now),
    events: eventsOf(item, approved, approval, now),
    grant: { approval, stepUpId: locked.stepUpId, heldId: locked.held?.authorizationId ?? null, mail, keptUntil },
  };
}

function newApproval(
  { asker, mandateId, intent }: Item,
  { checkout, assuranceLevel }: LockedCheckout,
  { authorizationId, body, expiresAt, validUntil }: PurchaseDecision,
  now: Date,
  isUsed: boolean,
): ApprovalRow {
  const continuationTokenId = newId("continuationToken");
  return {
    ...decisionOn(checkout, asker.subjectId, now),
    status: isUsed ? "consumed" : "pending",
    reason: null,
    mandateId,
    assuranceLevel,
    authorizationId,
    continuationTokenId,
    continuationTokenHash: continuationHash(continuationTokenOf(continuationTokenId)),
    continuationTokenStatus: isUsed ? "redeemed" : "active",
    // saveGrant gives an existing reservation this expiry; the expiry of an authorization that this approval makes limits it.
    expiresAt: earliest(
      approvalEnd(checkout, now),
      new Date(intent.expiresAt),
      ...(body === null ? [] : [expiresAt]),
      ...(validUntil ? [validUntil] : []),
    ),
    resolvedAt: isUsed ? now : null,
  };
}

function eventsOf({ asker, requestId }: Item, checkout: CheckoutRow, approval: ApprovalRow, now: Date): AuditEvent[] {
  const { checkoutIntentId, organizationId, basketHash } = checkout;
  const { approvalId, mandateId, authorizationId, continuationTokenId } = approval;
  const happened = { actorId: asker.subjectId, organizationId, subjectId: checkout.ownerSubjectId, createdAt: now };
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
        // A payment that is made elsewhere has no address, and its receipt names none.
        ...(checkout.payTo !== "" && { payTo: checkout.payTo }),
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
