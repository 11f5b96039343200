import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import type { MandateChoice } from "#lib/approvals/checkout-schema.ts";
import type { BoundTerms } from "#lib/approvals/decision/approval.ts";
import type { AuthorizationRow } from "#lib/holds/execution-store.ts";
import type { Line } from "#lib/approvals/basket.ts";
import type { NamedIntent } from "#lib/payment-intent.ts";
import type { ProbeResult, DueProbe } from "#lib/payments/offers/required-probe.ts";
import type { Problem } from "#lib/problem.ts";
import type { Capability, Environment } from "#lib/vocabulary.ts";

/** The batch reads the key, session or card again, after it has locked the gate. A card pays for the agent that it belongs to. */
export type Asker =
  | { readonly kind: "key"; readonly subjectId: string; readonly keyId: string }
  | { readonly kind: "session"; readonly subjectId: string; readonly sessionId: string }
  | { readonly kind: "card"; readonly subjectId: string; readonly connectionId: string; readonly cardId: string };

export type CheckoutDraft = {
  readonly lines: readonly Line[];
  readonly storefrontUrl: string;
  readonly quoteId: string | null;
  readonly quoteExpiresAt: Date | null;
  readonly orderId: string | null;
  readonly items: unknown;
  readonly storefront: unknown;
  readonly createsFulfillmentOrder: boolean;
};

/** A person approves a checkout. The policy is applied to the agent that opened it. */
export type Approval = {
  readonly kind: "approval";
  readonly orderId: null;
  readonly checkoutIntentId: string;
  /** As it was before the lock: if it has changed since, the person would approve something else. */
  readonly checkout: CheckoutRow;
  /** Whether the reply is stored under the slot. */
  readonly hasKey: boolean;
  /** Shown in the reply. */
  readonly mandates: readonly MandateChoice[];
};

type OfOrder = {
  readonly orderId: string;
  /** The order is changed only while it stores this lease. */
  readonly lease: string;
  /** The storefront's offer, which the order stores. */
  readonly offer: object;
};

/** An agent places an order; a person is asked if the policy says so. */
export type Placement = OfOrder & {
  readonly kind: "order";
  readonly checkoutIntentId: null;
  readonly attempt: number;
  /** A person recently rejected the same payment. */
  readonly rejectedByPerson: boolean;
  /** The fields in which the seller's 402 differs from the quote of the same seller. */
  readonly mismatches: readonly { readonly field: string; readonly pointer: string }[];
  /** What a person is shown if asked. */
  readonly draft: CheckoutDraft;
};

/** An order uses the approval of its checkout, for exactly `terms`. */
export type Continuation = OfOrder & {
  readonly kind: "continuation";
  readonly checkoutIntentId: string;
  readonly terms: BoundTerms;
  readonly quoteExpiresAt: Date;
  readonly authorization: AuthorizationRow;
};

/**
 * Approvals, continuations and orders use the same queue as authorizations. The batch locks the checkout after the mandates, and
 * never contains two payments with the same checkout or order.
 */
export type Purchase = Approval | Placement | Continuation;

export type Item = {
  readonly slot: string;
  readonly fingerprint: string;
  readonly idempotencyKey: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly asker: Asker;
  readonly mandateId: string;
  readonly intent: NamedIntent;
  readonly requestId: string;
  readonly purchase?: Purchase;
  /** For a card: how many requests Stripe had decided under the same authorization. */
  readonly position?: number;
  /** Money moved or may move already, so it is decided whoever asks, only to be counted. */
  readonly isUnasked?: true;
  /** The result of calling the seller's domain for this payment. If set, the domain is not called again. */
  readonly probeResult?: ProbeResult;
};

export type FinalAnswer =
  | { readonly kind: "reply"; readonly status: number; readonly body: string; readonly replayed: boolean }
  | { readonly kind: "problem"; readonly problem: Problem };

/** With "probe", the payment is not decided: call the seller's domain first, and submit the payment again with the result. */
export type Answer = FinalAnswer | { readonly kind: "probe"; readonly probe: DueProbe };

export const refusal = (problem: Problem): FinalAnswer => ({ kind: "problem", problem });

/** The person who approves with this request; null if it is not an approval, or if its caller uses an API key. */
export const approverOf = ({ asker, purchase }: Item): string | null =>
  purchase?.kind === "approval" && asker.kind === "session" ? asker.subjectId : null;

/** The subject that pays: the agent of the checkout, or the caller. */
export const payingSubjectOf = ({ asker, purchase }: Item): string =>
  purchase?.kind === "approval" ? purchase.checkout.ownerSubjectId : asker.subjectId;

/** The capability that the caller needs, which is read again after the gate is locked. */
export function capabilityFor({ purchase }: Item): Capability {
  if (!purchase) return "payments:authorize";
  return purchase.kind === "approval" ? "checkouts:approve" : "orders:place";
}

/** Whether a person approves or has approved this payment, so the policy need not ask. */
export const isApproved = ({ purchase }: Item): boolean => purchase !== undefined && purchase.kind !== "order";

/** Whether the checkout already has an authorization; then no new one is made. */
export const hasHold = ({ purchase }: Item): boolean =>
  purchase?.kind === "continuation" || (purchase?.kind === "approval" && purchase.checkout.authorizationId !== null);

export const checkoutDraftOf = ({ purchase }: Item): CheckoutDraft | null => (purchase?.kind === "order" ? purchase.draft : null);
