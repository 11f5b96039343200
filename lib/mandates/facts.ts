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

/** The usage in one bucket, which is one part of a window's time. */
export type BucketUsage = {
  readonly start: Date;
  /** From this time on, the payments in this bucket no longer count against the limits of its window. */
  readonly liveUntil: Date;
  spent: Atomic;
  reserved: Atomic;
  payments: number;
};

/**
 * The current usage of a mandate. The keys of `buckets` are the keys of windows. A bucket has the sums of one part of a
 * window's time; a list may contain buckets that no longer count.
 * Mutable: the caller adds what one payment reserves before it decides the next payment.
 */
export type Usage = {
  spent: Atomic;
  reserved: Atomic;
  lastHeldAt: Date | null;
  readonly buckets: Map<string, BucketUsage[]>;
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

/**
 * A seller that is not registered, as the 402 reply that the agent received describes it. The agent passes this reply on, so
 * the reply proves nothing.
 */
type UnregisteredFacts = {
  /** The seller's domain; null if the challenge names no public domain. */
  readonly domain: string | null;
  /**
   * The values that are missing in the intent, so that it cannot be compared with the seller's challenge. `pointer` points into
   * the request body.
   */
  readonly lacks: readonly { readonly detail: string; readonly pointer: string }[];
};

/**
 * All facts that a decision may use. Free-form metadata is excluded, so that no text of an agent or seller can influence a
 * decision.
 */
export type IntentFacts = {
  readonly agent: { readonly subjectId: string; readonly type: "user" | "serviceAccount"; readonly active: boolean };
  /** The registered record; null when the seller is not registered. */
  readonly seller: SellerFacts | null;
  /**
   * The facts about a seller that is not registered. Null if the intent names a seller id, even if no seller has this id, or if
   * the 402 is at the verified domain of a registered seller.
   */
  readonly unregistered: UnregisteredFacts | null;
  /** The registered resource that the intent names. Null if it names none, or if the seller has no active resource of this id. */
  readonly resource: ResourceFacts | null;
  /**
   * The values of the payment request that differ from the seller's records, or from the challenge of a seller that is not
   * registered. `pointer` points into the request body.
   */
  readonly mismatches: readonly {
    readonly field: string;
    readonly pointer: string;
    /** The value in the seller's challenge, as text for people. Set only if the challenge differs from the record. */
    readonly theirs?: string;
    /** The value in the record, as text for people. Set together with `theirs`. */
    readonly registered?: string;
  }[];
  readonly amount: Atomic;
  readonly fee: { readonly serviceFee: Atomic; readonly buyerShare: Atomic };
  readonly asset: string;
  readonly chain: string;
  readonly payTo: string | null;
  /**
   * Why an emergency stop of a seller forbids this payee: "stopped" if the payee is that seller or has a domain or address that
   * the seller had proved; "unproven" if the seller had only claimed it, so that the payee must first prove its domain or
   * address. For a payee that is not registered, this may be "stopped" in both cases.
   */
  readonly payeeStop?: "stopped" | "unproven" | null;
  /** True if this service called the seller's domain and the domain's 402 reply asked for the same payment. */
  readonly domainSeen?: boolean;
  /** A sentence about the reply that the domain gave this service, if that reply does not ask for the same payment. */
  readonly domainLook?: string;
  readonly paymentChallengeType: string;
  readonly expiresAt: Date;
  /** The assurance level that this payment has reached, by a person's approval or only by the mandate itself. */
  readonly assuranceLevel: AssuranceLevel;
  readonly sellerPaidBefore: boolean;
  /** A person of the buyer approves this payment, which satisfies the approval rule. */
  readonly approvedByPerson?: boolean;
  /** A person has allowed this one payment although the policy denies it. */
  readonly waived?: boolean;
  /** A person declined the same basket under this mandate, or before a mandate was chosen for it, within the last hour. */
  readonly rejectedByPerson?: boolean;
  /**
   * At least two requests about the same basket with the same purpose expired without an answer within the last day, and the
   * last of them within the last hour.
   */
  readonly unanswered?: boolean;
  readonly duplicateIntentId: boolean;
  readonly duplicateNonce: boolean;
};

/** Times are RFC 3339 text. The kind "lifetime" has no start or end. */
export type ReasonWindow = {
  readonly kind: "calendar" | "rolling" | "lifetime";
  readonly start?: string;
  readonly end?: string;
  readonly timezone?: string;
};

/** `request_repeated`: a person is already asked about the same payment. */
export type ReasonCode = DenialCode | "approval_required" | "request_repeated" | "satisfied";

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
  /** The authorization of an earlier request for the same payment. */
  readonly authorizationId?: string;
  /** Whether the caller may pay under that authorization once a person has approved it. */
  readonly resumable?: boolean;
  /** A pointer into the policy; for challenge_mismatch and intent_invalid, into the request body. */
  readonly pointer?: string;
  readonly limit?: string;
  readonly used?: string;
  readonly requested?: string;
  readonly remaining?: string;
  readonly unit?: string;
  readonly window?: ReasonWindow;
  readonly policyVersion: number;
};

/** The checkout in which a person is asked to approve, the call that returns the person's answer, and the agent's next call. */
export type ApprovalRequest = Pick<Reason, "href" | "checkoutIntentId" | "pollWith" | "next">;

/**
 * A value in a finding, which is the result of one rule. Amounts are decimal text in the unit of the mandate, times are RFC
 * 3339 text.
 */
export type Value = string | number | null;

/**
 * One evaluated rule as data: the id of its sentence and the values. If a person is asked to approve, the ApprovalRequest is
 * the last value.
 */
export type Finding = readonly [id: number, ...values: (Value | ApprovalRequest)[]];

/**
 * The findings (results of rules) of a decision, in the order of its reasons. `requested` is the amount that the payment takes
 * from the budget, as decimal text.
 */
export type Findings = readonly [renderer: 1, policyVersion: number, unit: string, requested: string, ...Finding[]];

export type Decision = {
  readonly outcome: Outcome;
  readonly denialCode?: DenialCode;
  /** The stored form of the reasons. Reasons are always rendered from it. */
  readonly findings: Findings;
  /** Every evaluated rule: first the denials by precedence, then the rules about approval and passkeys, then the rest. */
  readonly reasons: readonly Reason[];
};
