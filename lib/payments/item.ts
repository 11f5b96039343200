import type { Row } from "postgres";
import type { Sql } from "#lib/db/sql.ts";
import type { AuditEvent } from "#lib/audit/chain.ts";
import type { Line } from "#lib/approvals/basket.ts";
import type { Decision } from "#lib/mandates/facts.ts";
import type { NamedIntent } from "#lib/payment-intent.ts";
import type { Looked, ToLook } from "#lib/payments/own-look.ts";
import type { Problem } from "#lib/problem.ts";
import type { AssuranceLevel, Capability, Environment } from "#lib/vocabulary.ts";

/** Who asked, as far as it must be read again under the gate. */
export type Asker =
  | { readonly kind: "key"; readonly subjectId: string; readonly keyId: string }
  | { readonly kind: "session"; readonly subjectId: string; readonly sessionId: string };

/** What was decided about an item that brings more than itself. */
export type AlsoDecided = {
  readonly decision: Decision;
  /** The highest level that policy, seller and resource ask for. */
  readonly assuranceAsked: AssuranceLevel;
  readonly authorizationId: string;
  readonly expiresAt: Date;
  /** The mandate's end; nothing that was approved outlives it. */
  readonly validUntil: Date | null;
  /** The bytes that authorizePayment would answer; null where an earlier authorization goes on. */
  readonly body: string | null;
  /** The checkout that a person is asked in; null unless the outcome is requireApproval. */
  readonly checkoutIntentId: string | null;
};

/** Rows and events that are written with an item, and its reply. */
export type Extra = {
  readonly status: number;
  readonly body: string;
  readonly events: readonly AuditEvent[];
  /** Sent in trip 2, not awaited one by one. */
  readonly write: (c: Sql) => readonly PromiseLike<unknown>[];
};

/** What a checkout of its own adds to the one that asks a person. */
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

/** Approvals, continuations and orders enter the same queue: what they bring besides an authorization. */
export type Also = {
  /** Locked after the mandates. Two items with the same one are never in one list. */
  readonly checkoutIntentId: string | null;
  /** The same for an order. */
  readonly orderId: string | null;
  /** What the asker needs, read again under the gate. */
  readonly capability: Capability;
  /** Who will pay, where it is not the asker: its rights are decided. */
  readonly agentId: string | null;
  /** A person says yes, so that the policy need not ask. */
  readonly approvedByPerson: boolean;
  /** A person said no to the same a short while ago. */
  readonly rejectedByPerson?: boolean;
  /** Where a seller's 402 differs from its own quote. */
  readonly mismatches?: readonly { readonly field: string; readonly pointer: string }[];
  /** Whether the reply is kept under the item's slot; without a key there is none. */
  readonly keyed: boolean;
  /** The budget is held already, by the authorization of this checkout; it is decided anew, and no other one is made. */
  readonly takesOver: boolean;
  /** Shown to the buyer where the outcome is requireApproval, instead of one line with the resource. */
  readonly checkout: CheckoutDraft | null;
  /** Pure, under the locks and before the policy: an answer instead of it, or null to go on. @throws Problem */
  readonly before: (locked: Row | null, now: Date) => Extra | null;
  /** Pure. @throws Problem, and then nothing of this item is written. */
  readonly after: (decided: AlsoDecided, locked: Row | null, now: Date) => Extra;
};

/** One request on its way through a list. */
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
  readonly also?: Also;
  /** What came of asking the seller's domain for this very item; then nobody is asked again. */
  readonly looked?: Looked;
};

/** Bytes to send (fresh or stored before), or a refusal. */
export type FinalAnswer =
  | { readonly kind: "reply"; readonly status: number; readonly body: string; readonly replayed: boolean }
  | { readonly kind: "problem"; readonly problem: Problem };

/** Or nothing yet: the seller's domain has to be asked first, which no list waits for. */
export type Answer = FinalAnswer | { readonly kind: "look"; readonly look: ToLook };

export const refusal = (problem: Problem): FinalAnswer => ({ kind: "problem", problem });

/** Whose payment it is. */
export const subjectOf = ({ asker, also }: Item): string => also?.agentId ?? asker.subjectId;
