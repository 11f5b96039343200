import type { Call } from "#lib/call-schema.ts";
import type { CompiledPolicy } from "#lib/mandates/compile-policy.ts";
import type { Atomic } from "#lib/money.ts";
import type { AssuranceLevel, DenialCode, Outcome, StoredMandateStatus } from "#lib/vocabulary.ts";

export type MandateFacts = {
  readonly mandateId: string;
  readonly status: StoredMandateStatus;
  readonly version: number;
  readonly policy: CompiledPolicy;
  /** Service accounts that may use the mandate; null admits every subject of the organization. */
  readonly agents: readonly string[] | null;
};

/** Mutable: the caller books each decision of a list before it decides the next one. */
export type BucketUsage = {
  readonly start: Date;
  /** From this time on the bucket no longer counts in its window. */
  readonly liveUntil: Date;
  spent: Atomic;
  reserved: Atomic;
  payments: number;
};

/** What is used so far. `buckets` is keyed by a window's key; buckets that no longer count may be among them. */
export type Usage = {
  spent: Atomic;
  reserved: Atomic;
  lastHeldAt: Date | null;
  readonly buckets: ReadonlyMap<string, readonly BucketUsage[]>;
};

type SellerFacts = {
  readonly sellerId: string;
  readonly domain: string;
  readonly verified: boolean;
  readonly minimumAssuranceLevel?: AssuranceLevel | undefined;
};

type ResourceFacts = {
  readonly sellerId: string;
  readonly resourceId: string;
  readonly method: string;
  readonly pathTemplate: string;
  readonly minimumAssuranceLevel?: AssuranceLevel | undefined;
  readonly acceptedPaymentChallengeTypes: readonly string[];
};

/** A seller without a record, as the 402 that the agent was shown presents it: the agent's word, which proves nothing. */
type UnregisteredFacts = {
  /** Null where the challenge names no public domain. */
  readonly domain: string | null;
  /** What the intent needs to be compared with a challenge; pointers into the request. */
  readonly lacks: readonly { readonly detail: string; readonly pointer: string }[];
};

/** Everything that a decision may look at. Free-form metadata is left out on purpose: no text of an agent or seller can steer a decision. */
export type IntentFacts = {
  readonly agent: { readonly subjectId: string; readonly type: "user" | "serviceAccount"; readonly active: boolean };
  /** The registered record; null when the seller is not registered. */
  readonly seller: SellerFacts | null;
  /** Of an intent that names no seller's record; null beside a record and where the named one does not exist. */
  readonly unregistered: UnregisteredFacts | null;
  /** The registered record; null when the seller has no such resource. */
  readonly resource: ResourceFacts | null;
  /** Where the request differs from the registered records, or from the challenge of an unregistered seller; pointers into the request. */
  readonly mismatches: readonly {
    readonly field: string;
    readonly pointer: string;
    /** Where the seller's challenge differs from the record: both, as text for people. */
    readonly theirs?: string;
    readonly registered?: string;
  }[];
  readonly amount: Atomic;
  readonly fee: { readonly serviceFee: Atomic; readonly buyerShare: Atomic };
  readonly asset: string;
  readonly chain: string;
  readonly payTo: string | null;
  /** By an emergency: stopped, or too like a stopped seller as long as nothing is proven. */
  readonly payeeStop?: "stopped" | "unproven" | null;
  /** This service asked the domain itself, and its 402 wants the same payment. */
  readonly domainSeen?: boolean;
  /** What came of asking, where it is no proof: a sentence. */
  readonly domainLook?: string;
  readonly paymentChallengeType: string;
  readonly expiresAt: Date;
  /** What this intent has reached: a person's approval with a passkey, or nothing beyond the mandate. */
  readonly assuranceLevel: AssuranceLevel;
  readonly sellerPaidBefore: boolean;
  /** A person of the buyer says yes to this payment, so that the approval rule is met. */
  readonly approvedByPerson?: boolean;
  /** A person declined the same basket under this mandate a short while ago. */
  readonly rejectedByPerson?: boolean;
  readonly duplicateIntentId: boolean;
  readonly duplicateNonce: boolean;
};

/** Times are RFC 3339 text; a lifetime has neither start nor end. */
export type ReasonWindow = {
  readonly kind: "calendar" | "rolling" | "lifetime";
  readonly start?: string;
  readonly end?: string;
  readonly timezone?: string;
};

export type ReasonCode = DenialCode | "approval_required" | "satisfied";

/** One evaluated rule. Amounts are decimal text in `unit`. */
export type Reason = {
  readonly code: ReasonCode;
  readonly rule: string;
  readonly effect: "allow" | "deny" | "approval" | "info";
  readonly message: string;
  readonly href?: string;
  readonly checkoutIntentId?: string;
  readonly pollWith?: Call;
  readonly next?: Call;
  /** Into the policy; of a challenge_mismatch into the request. */
  readonly pointer?: string;
  readonly limit?: string;
  readonly used?: string;
  readonly requested?: string;
  readonly remaining?: string;
  readonly unit?: string;
  readonly window?: ReasonWindow;
  readonly policyVersion: number;
};

export type Decision = {
  readonly outcome: Outcome;
  readonly denialCode?: DenialCode;
  /** Every evaluated rule: denials by precedence, then approvals, then the rest. */
  readonly reasons: readonly Reason[];
};
