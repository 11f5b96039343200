import type { LockedCheckout } from "#lib/approvals/decision/locked-checkout.ts";
import type { Sql } from "#lib/db/sql.ts";
import type { AuditEvent } from "#lib/audit/chain.ts";
import type { Line } from "#lib/approvals/basket.ts";
import type { Decision } from "#lib/mandates/policy/facts.ts";
import type { NamedIntent } from "#lib/payment-intent.ts";
import type { ProbeResult, DueProbe } from "#lib/payments/offers/required-probe.ts";
import type { Problem } from "#lib/problem.ts";
import type { AssuranceLevel, Capability, Environment } from "#lib/vocabulary.ts";

/** The batch reads the key or session again, after it has locked the gate. */
export type Asker =
  | { readonly kind: "key"; readonly subjectId: string; readonly keyId: string }
  | { readonly kind: "session"; readonly subjectId: string; readonly sessionId: string };

export type PurchaseDecision = {
  readonly decision: Decision;
  /** The highest assurance level that the policy, the seller or the resource requires. */
  readonly assuranceAsked: AssuranceLevel;
  readonly authorizationId: string;
  readonly expiresAt: Date;
  /** The end of the mandate; null if it has none. No approval is valid after this time. */
  readonly validUntil: Date | null;
  /** The reply body of authorizePayment; null if an earlier authorization continues. */
  readonly body: string | null;
  /** The checkout in which a person is asked, also that of an earlier payment with the same question; null if none is asked. */
  readonly checkoutIntentId: string | null;
};

/** The rows and events that an approval, a continuation or an order writes with its authorization, and its reply. */
export type PurchaseRecord = {
  readonly status: number;
  readonly body: string;
  readonly events: readonly AuditEvent[];
  /** The statements that write the rows, in one round trip. One that divides by zero refuses the payment (lostOrder). */
  readonly write: (c: Sql) => readonly PromiseLike<unknown>[];
};

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

/** Approvals, continuations and orders use the same queue as authorizations. */
export type Purchase = {
  /** The batch locks the checkout after the mandates. A batch never contains two payments with the same checkout. */
  readonly checkoutIntentId: string | null;
  /** The order that is paid. A batch never contains two payments with the same order. */
  readonly orderId: string | null;
  /** The capability that the caller needs. The caller's capabilities are read again after the gate is locked. */
  readonly capability: Capability;
  /** The agent that will pay, if it is not the caller. The policy is applied to this agent. */
  readonly agentId: string | null;
  /** A person approves or has approved this payment, so the policy need not ask. */
  readonly approvedByPerson: boolean;
  /** A person recently rejected the same payment. */
  readonly rejectedByPerson?: boolean;
  /** The fields in which the seller's 402 differs from the quote of the same seller. */
  readonly mismatches?: readonly { readonly field: string; readonly pointer: string }[];
  /** Whether the reply is stored under the slot: only for an approval with a key, never for an order or a continuation. */
  readonly hasKey: boolean;
  /** Whether the checkout already has an authorization; then no new one is made. */
  readonly hasHold: boolean;
  /** What a person is shown if asked; null if a person approves or has approved the payment. */
  readonly checkout: CheckoutDraft | null;
  /** Runs before the policy, under the locks. Returns a reply that replaces the decision, or null. Pure. @throws Problem */
  readonly precheck: (locked: LockedCheckout | null, now: Date) => PurchaseRecord | null;
  /** Pure. @throws Problem if nothing must be written for this payment */
  readonly record: (decided: PurchaseDecision, locked: LockedCheckout | null, now: Date) => PurchaseRecord;
};

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
  purchase?.capability === "checkouts:approve" && asker.kind === "session" ? asker.subjectId : null;

/** The subject that pays: the agent of the checkout, or the caller. */
export const payingSubjectOf = ({ asker, purchase }: Item): string => purchase?.agentId ?? asker.subjectId;
