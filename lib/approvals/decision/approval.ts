import { FRESH_SESSION_MS } from "#lib/identity/step-up-limits.ts";
import type { StepUpReason } from "#lib/approvals/checkout-view.ts";
import { isOpen } from "#lib/approvals/checkout-state.ts";
import type { Atomic } from "#lib/money.ts";
import { Problem } from "#lib/problem.ts";
import { ageOf, earliest, minutes } from "#lib/time.ts";
import type { ApprovalStatus, CheckoutStatus } from "#lib/vocabulary.ts";

export const REVIEW_MS = minutes(10);
export const STEP_UP_MS = minutes(5);
const APPROVAL_LEAST_MS = minutes(60);
/** The longest time that a request waits for a person's decision, including an extension by a person. */
export const REQUEST_MOST_MS = minutes(24 * 60);

/** An approval is for exactly these terms; if one changes, a new approval is needed. */
export type CheckoutTerms = {
  readonly basketHash: string;
  readonly amount: Atomic;
  readonly asset: string;
  readonly chain: string;
  readonly payTo: string;
};

export const sameTerms = (a: CheckoutTerms, b: CheckoutTerms): boolean =>
  a.basketHash === b.basketHash && a.amount === b.amount && a.asset === b.asset && a.chain === b.chain && a.payTo === b.payTo;

export type BoundTerms = Omit<CheckoutTerms, "amount"> & {
  readonly amount: bigint;
  readonly mandateId: string;
  readonly agentId: string;
};

/** An approval is valid only for exactly the terms that were approved. */
export const boundTo = (a: BoundTerms, b: BoundTerms): boolean =>
  a.basketHash === b.basketHash &&
  a.amount === b.amount &&
  a.asset === b.asset &&
  a.chain === b.chain &&
  a.payTo.toLowerCase() === b.payTo.toLowerCase() &&
  a.mandateId === b.mandateId &&
  a.agentId === b.agentId;

type Request = { readonly createdAt: Date; readonly expiresAt: Date; readonly quoteExpiresAt: Date | null };

const quoteEnd = ({ quoteExpiresAt }: Pick<Request, "quoteExpiresAt">) => (quoteExpiresAt ? [quoteExpiresAt] : []);

/** The later of the request's expiry and an hour from `now`, but not after the end of the seller's quote. */
export const approvalEnd = (request: Omit<Request, "createdAt">, now: Date): Date =>
  earliest(new Date(Math.max(request.expiresAt.getTime(), now.getTime() + APPROVAL_LEAST_MS)), ...quoteEnd(request));

/** `ends` has the expiry of the payment intent and of the mandate, if they have one. */
export const latestEnd = (request: Request, ends: readonly Date[]): Date =>
  earliest(new Date(request.createdAt.getTime() + REQUEST_MOST_MS), ...quoteEnd(request), ...ends);

export type StepUpFacts = {
  readonly sessionCreatedAt: Date;
  /** The organization has paid this seller before, under any mandate. */
  readonly sellerPaidBefore: boolean;
  /** The amount, with what counts of this person's approvals in the last day, is above the limit without step-up. */
  readonly aboveThreshold: boolean;
  /** For an unverified payee, the same with the amounts approved for unverified payees and with the limit for them. */
  readonly aboveUnverified: boolean;
  /** This session has an unused, unexpired proof for this checkout; a passkey's proof counts only for the terms it signed. */
  readonly done: boolean;
};

/** Empty if the person need not prove their identity again. */
export function stepUpReasons(
  { sessionCreatedAt, sellerPaidBefore, aboveThreshold, aboveUnverified }: Omit<StepUpFacts, "done">,
  now: Date,
): StepUpReason[] {
  const reasons: StepUpReason[] = [];
  if (aboveThreshold) reasons.push("amount");
  else if (aboveUnverified) reasons.push("unverifiedPayee");
  if (ageOf(sessionCreatedAt, now) > FRESH_SESSION_MS) reasons.push("sessionAge");
  if (!sellerPaidBefore) reasons.push("firstPayment");
  return reasons;
}

export type ApprovalFacts = {
  readonly checkout: CheckoutTerms & { readonly status: CheckoutStatus; readonly expiresAt: Date };
  readonly approval: {
    readonly status: ApprovalStatus;
    readonly mandateId: string | null;
    readonly approvedBasketHash: string;
    readonly expiresAt: Date;
  } | null;
  readonly review: (CheckoutTerms & { readonly shownAt: Date }) | null;
  readonly stepUp: StepUpFacts;
  readonly mandateId: string;
};

const alreadyDecided = (): Problem =>
  new Problem("approval_already_decided", { detail: "This checkout was already approved or declined." });

export const checkoutChanged = (): Problem =>
  new Problem("checkout_changed", { detail: "The checkout has changed since you were shown it. Review it again." });

/** With "any", a password or a passkey is accepted; with "passkey", only a passkey. */
export const stepUpRequired = (by: "any" | "passkey"): Problem =>
  new Problem("step_up_required", {
    detail:
      by === "any"
        ? "Confirm that it is you, with your password or a passkey, to approve this payment."
        : "This payment is approved with a passkey. Sign it with one of yours.",
    nextActions: [
      {
        type: "step_up",
        label: "Confirm that it is you",
        href: "/api/v1/auth/step-up",
        ...(by === "passkey" && { metadata: { method: by } }),
      },
    ],
  });

export const noMatchingMandate = (detail: string): Problem =>
  new Problem("no_matching_mandate", {
    detail,
    nextActions: [{ type: "create_mandate", label: "Change a mandate or make one", href: "/mandates" }],
  });

const expired = (): Problem =>
  new Problem("intent_expired", { detail: "This checkout has expired. Nothing was approved; ask your agent for a new one." });

/** @throws Problem conflict, authorization_consumed, continuation_expired, checkout_closed */
export function requireUnused(
  checkout: { readonly status: CheckoutStatus },
  approval: { readonly status: ApprovalStatus; readonly expiresAt: Date } | null,
  now: Date,
): void {
  const { status } = checkout;
  if (isOpen(status)) throw new Problem("conflict", { detail: "Nobody has approved this checkout yet. You can decline it." });
  if (approval?.status === "consumed")
    throw new Problem("authorization_consumed", {
      detail: "The agent has used this approval already. Look at the payment to see how far it has come.",
    });
  if (status !== "approved")
    throw new Problem("checkout_closed", { detail: "This checkout has ended. Nothing is left to take back." });
  if (approval?.status === "pending" && approval.expiresAt > now) return;
  throw new Problem("continuation_expired", { detail: "This approval has ended by itself. Nothing can be paid with it." });
}

/** "repeat": the checkout has this approval. @throws Problem step_up_required, and those of requireOpen and requireReviewed */
export function decideApproval({ checkout, approval, review, stepUp, mandateId }: ApprovalFacts, now: Date): "grant" | "repeat" {
  if (approval) return repeatOrRefuse(approval, checkout, mandateId, now);
  requireOpen(checkout, now);
  requireReviewed(review, checkout, now);
  if (!stepUp.done && stepUpReasons(stepUp, now).length > 0) {
    throw stepUpRequired("any");
  }
  return "grant";
}

/** This session must have been shown the same terms within REVIEW_MS. @throws Problem review_required, checkout_changed */
export function requireReviewed(review: ApprovalFacts["review"], checkout: CheckoutTerms, now: Date): void {
  if (!review || ageOf(review.shownAt, now) > REVIEW_MS) {
    throw new Problem("review_required", {
      detail: "Open the confirmation page first: an approval confirms what this session was shown in the last ten minutes.",
    });
  }
  if (!sameTerms(review, checkout)) throw checkoutChanged();
}

function repeatOrRefuse(
  approval: NonNullable<ApprovalFacts["approval"]>,
  { basketHash }: CheckoutTerms,
  mandateId: string,
  now: Date,
): "repeat" {
  const same = approval.mandateId === mandateId && approval.approvedBasketHash === basketHash;
  if (approval.status === "expired" || (approval.status === "pending" && approval.expiresAt <= now)) throw expired();
  if (approval.status === "pending" && same) return "repeat";
  throw alreadyDecided();
}

/** @throws Problem approval_already_decided, checkout_closed, intent_expired */
export function requireOpen(
  { status, expiresAt }: { readonly status: CheckoutStatus; readonly expiresAt: Date },
  now: Date,
): void {
  if (status === "expired" || (isOpen(status) && expiresAt <= now)) throw expired();
  if (isOpen(status)) return;
  if (status === "canceled" || status === "superseded" || status === "failed") {
    throw new Problem("checkout_closed", { detail: "This checkout is closed. Ask your agent for a new one." });
  }
  throw alreadyDecided();
}
