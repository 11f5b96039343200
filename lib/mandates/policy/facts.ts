import type { Call } from "#lib/call-schema.ts";
import type { CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { Atomic } from "#lib/money.ts";
import type { AssuranceLevel, DenialCode, Outcome, StoredMandateStatus } from "#lib/vocabulary.ts";

export type MandateFacts = {
  readonly mandateId: string;
  readonly status: StoredMandateStatus;
  readonly version: number;
  readonly policy: CompiledPolicy;
  /** Null admits every subject of the organization. */
  readonly agents: readonly string[] | null;
};

/** A bucket is one part of a window's time. */
export type BucketUsage = {
  readonly start: Date;
  /** From this time on, the bucket no longer counts. */
  readonly liveUntil: Date;
  spent: Atomic;
  reserved: Atomic;
  payments: number;
};

/** Mutable: callers add what a payment reserves before the next decision; `buckets`, by window key, may hold outdated ones. */
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

/** The facts come from the 402 reply that the agent passed on, which proves nothing. */
type UnregisteredFacts = {
  /** Null without a challenge that names a domain that a seller can have. */
  readonly domain: string | null;
  /** What the intent lacks for a comparison with the seller's challenge; `pointer` points into the request body. */
  readonly lacks: readonly { readonly detail: string; readonly pointer: string }[];
};

/** `merchant` is the id that the card network gave it. */
export type CardMerchant = { readonly category: string; readonly country: string | null; readonly merchant: string };

/** Free-form metadata of agents and sellers is excluded, so that it cannot influence a decision. */
export type IntentFacts = {
  readonly agent: { readonly subjectId: string; readonly type: "user" | "serviceAccount"; readonly active: boolean };
  /** Null if the seller is not registered. */
  readonly seller: SellerFacts | null;
  /** Null if the intent names a seller id, even an unknown one, or if the 402 is at a registered seller's verified domain. */
  readonly unregistered: UnregisteredFacts | null;
  /** Null if the intent names no resource, or if the seller has no active resource of this id. */
  readonly resource: ResourceFacts | null;
  /** Differences from the seller's record or challenge; `pointer` leads into the request body or an order's challenge. */
  readonly mismatches: readonly {
    readonly field: string;
    readonly pointer: string;
    /** The value in the seller's challenge; set only if the challenge differs from the record. */
    readonly theirs?: string;
    readonly registered?: string;
  }[];
  /** The smallest payment that this service would settle for the seller, such as "0.001 USDC"; set only if this one is smaller. */
  readonly settledFrom?: string;
  readonly amount: Atomic;
  readonly fee: { readonly serviceFee: Atomic; readonly buyerShare: Atomic };
  readonly asset: string;
  readonly chain: string;
  /** The decimals of the asset; null if it is not configured here (any more). */
  readonly decimals: number | null;
  readonly payTo: string | null;
  /**
   * "stopped": the payee is a stopped seller, or has a domain or address that a stopped seller had proved.
   * "unproven": a stopped seller had only claimed it, and the payee has not proved that it is another one. For an unregistered
   * payee, authorizing says "stopped" in this case too.
   */
  readonly payeeStop?: "stopped" | "unproven" | null;
  /** True if this service itself asked the seller's domain, and its 402 reply asked for the same payment. */
  readonly domainSeen?: boolean;
  /** Why `domainSeen` is not true: what the domain answered, or that this service does not know where to ask. */
  readonly domainLook?: string;
  readonly paymentChallengeType: string;
  /** Set if the payment is made elsewhere and recorded here. */
  readonly record?: {
    /** The seller's id, or the name of the account (accountName). Null if the intent names neither. */
    readonly payee: string | null;
    readonly reference: string;
    /** The authorization that has the same reference of the same payee. */
    readonly before: string | null;
  };
  /** Set if a card pays: where, in Stripe's words. */
  readonly card?: CardMerchant;
  readonly expiresAt: Date;
  /** The level that this payment has reached, by a person's approval or only by the mandate itself. */
  readonly assuranceLevel: AssuranceLevel;
  readonly sellerPaidBefore: boolean;
  /** Satisfies the approval rule. */
  readonly approvedByPerson?: boolean;
  /** A person has allowed this one payment although the policy denies it. */
  readonly waived?: boolean;
  /** A person declined this basket or took back its approval in the last hour, under this mandate or (an order) under none. */
  readonly rejectedByPerson?: boolean;
  /** At least two requests with this basket and purpose expired unanswered within a day, the last within the last hour. */
  readonly unanswered?: boolean;
  readonly duplicateIntentId: boolean;
  readonly duplicateNonce: boolean;
};

/** Times are RFC 3339 text; the kind "lifetime" has no start or end. */
export type ReasonWindow = {
  readonly kind: "calendar" | "rolling" | "lifetime";
  readonly start?: string;
  readonly end?: string;
  readonly timezone?: string;
};

/** `request_repeated`: a person is already asked about the same payment. */
export type ReasonCode = DenialCode | "approval_required" | "request_repeated" | "satisfied";

/** Amounts are decimal text in `unit`. */
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
  /** Leads into the policy; for challenge_mismatch and intent_invalid, into the request body or an order's challenge. */
  readonly pointer?: string;
  readonly limit?: string;
  readonly used?: string;
  readonly requested?: string;
  readonly remaining?: string;
  readonly unit?: string;
  readonly window?: ReasonWindow;
  readonly policyVersion: number;
};

export type ApprovalRequest = Pick<Reason, "href" | "checkoutIntentId" | "pollWith" | "next">;

/** Amounts are decimal text in the unit of the mandate, times are RFC 3339 text. */
export type Value = string | number | null;

/** The id of a sentence and its values; the last is an ApprovalRequest if a checkout asks a person. */
export type Finding = readonly [id: number, ...values: (Value | ApprovalRequest)[]];

/** `requested` is the amount that the payment takes from the budget, as decimal text. */
export type Findings = readonly [renderer: 1, policyVersion: number, unit: string, requested: string, ...Finding[]];

export type Decision = {
  readonly outcome: Outcome;
  readonly denialCode?: DenialCode;
  /** The reasons are always rendered from the findings, which are stored. */
  readonly findings: Findings;
  /** First the denials by precedence, then the rules about approval and passkeys, then the rest. */
  readonly reasons: readonly Reason[];
};
