import type { Basket, CheckoutApproval, CheckoutIntent, MandateChoice } from "#lib/approvals/checkout-schema.ts";
import type { AskRule } from "#lib/mandates/ask-rules.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

/** One budget of a mandate, before and after this payment. Amounts are decimal text in `unit`. */
export type BudgetView = {
  /** "total" for the limit on the total, or the key of a time window such as "day UTC". */
  readonly window: string;
  readonly unit: string;
  readonly limit: string;
  readonly spent: string;
  /**
   * The amount that other payments reserve. An amount that this payment has reserved already is not included. 0 for a limit on
   * the number of payments.
   */
  readonly heldByOthers: string;
  readonly available: string;
  /** The rest of the budget after this payment; absent if the payment does not fit. */
  readonly availableAfter?: string;
};

export type MandateView = MandateChoice & {
  readonly perPayment: string;
  readonly budgets: readonly BudgetView[];
  /**
   * The reasons why the mandate cannot pay this checkout, as full sentences, sorted by their codes in the order of DenialCode.
   * Empty if the mandate can pay, if nothing could be decided, or if the payment was already requested under this mandate. So only
   * `match` says whether the mandate can pay.
   */
  readonly obstacles: readonly string[];
  /** The assurance level that the mandate's policy requires. */
  readonly assuranceAsked: AssuranceLevel;
  /**
   * The rules of the mandate that require a person's approval. Empty if no rule requires it, for example because the agent
   * itself asked for the approval, or if the decision is not stored.
   */
  readonly asks: readonly AskRule[];
};

export type LineView = Basket["lines"][number] & { readonly subtotal: string; readonly displaySubtotal: string };

export type StepUpReason = "amount" | "unverifiedPayee" | "sessionAge" | "firstPayment";

/** Whether and how the person must prove their identity before they can approve. */
export type StepUpView = {
  readonly required: boolean;
  readonly reasons: readonly StepUpReason[];
  /**
   * The limit that the amount exceeds, and the sum that this person approved before within a day, if any. Absent if no limit is
   * exceeded. Text for people: "100.00 USDC".
   */
  readonly limit?: { readonly above: string; readonly lately?: string };
  /** How much more this session may approve to the payee without a new proof of identity (step-up), as decimal text. */
  readonly room: string;
  /** Whether the person has proved their identity again in this session for this checkout. */
  readonly done: boolean;
  /** Whether the person's identity was proved by a passkey that signed these terms. */
  readonly byPasskey: boolean;
  /** The assurance level that the seller and the resource require. The mandate's own requirement is in MandateView. */
  readonly assuranceAsked: AssuranceLevel;
  readonly hasPasskey: boolean;
  readonly hasPassword: boolean;
};

/** A payee, and the organization's earlier payments to this payee. */
export type PayeeView = {
  /** The domain in ASCII, so labels in other scripts begin with xn--. */
  readonly domain: string;
  /** The domain with the letters of its own script, if it has other letters than ASCII. */
  readonly unicodeDomain?: string;
  readonly registered: boolean;
  readonly verified: boolean;
  /** The seller's name in this service; absent if the payee is not registered. */
  readonly name?: string;
  readonly history: {
    /** The number of settled payments of this organization to the payee. */
    readonly paid: number;
    /** Whether `paid` is complete. False if the organization has so many payments that only the newest were searched. */
    readonly all: boolean;
    /** The time of the first payment; absent if there is none. */
    readonly since?: string;
    /** How many of the newest checkouts were for this payee and were declined, or had their approval taken back. */
    readonly declined: number;
    /** How many of the newest payments that mandates refused were for this payee. */
    readonly refused: number;
  };
  /**
   * The domain of another payee that was paid before, if a person could confuse the two; absent if this payee was paid first.
   */
  readonly looksLike?: string;
};

/**
 * The data of the confirmation page. All of it comes from this service's database. Names and basket texts are the seller's own
 * words, which nobody has checked.
 */
export type CheckoutView = {
  /** The database's time when the data was read, for the countdown. */
  readonly now: string;
  readonly intent: CheckoutIntent;
  readonly approval?: CheckoutApproval;
  readonly payee: PayeeView;
  readonly agent: {
    readonly subjectId: string;
    readonly name: string;
    readonly active: boolean;
    /** Whether a person has paused the agent. A paused agent cannot use an approval. */
    readonly paused: boolean;
    /** False if the payment was requested by a person with their own session, and not by a service account. */
    readonly isServiceAccount: boolean;
  };
  readonly organization: { readonly organizationId: string; readonly name: string };
  readonly requestedAt: string;
  /** The purpose in the agent's own words, which nobody has checked. */
  readonly purpose?: string;
  /** The name of the person who decided, or their id if the name is unknown, and their reason. */
  readonly decided?: {
    readonly by: string;
    readonly reason?: string;
    /** The person who took the approval back, and when. */
    readonly takenBack?: { readonly by: string; readonly at: string };
  };
  /** The authorization that the approval is for; absent unless the stored status of the approval is `pending` or `consumed`. */
  readonly authorizationId?: string;
  readonly amounts: {
    /** The amount that the seller receives, as text for people: "43.00 USDC". */
    readonly total: string;
    /**
     * The part of the total that no line of the basket contains, such as shipping; absent if the lines add up to the total or
     * to more.
     */
    readonly rest?: string;
    readonly fee: {
      readonly amount: string;
      readonly display: string;
      readonly payer: "buyer" | "seller" | "split";
      readonly buyerShare: string;
    };
    /** The amount taken from the mandate's budget: the total and the buyer's share of the fee. */
    readonly charged: string;
    /** The charged amount as decimal text, without the asset. */
    readonly chargedAmount: string;
  };
  readonly lines: readonly LineView[];
  readonly destination: {
    readonly payTo: string;
    readonly tokenAddress: string;
    readonly tokenName: string;
    readonly chain: string;
    readonly explorerUrl?: string;
  };
  readonly mandates: readonly MandateView[];
  readonly stepUp: StepUpView;
  /** Whether this person may approve and decline. */
  readonly mayDecide: boolean;
  /** The latest time to which this person can extend the request; absent if they cannot extend it. */
  readonly moreTimeUntil?: string;
  /** The terms that this session was shown earlier, if they differ from the terms now. The page marks the changes. */
  readonly before?: {
    readonly basketHash: string;
    readonly displayAmount: string;
    readonly payTo: string;
    readonly shownAt: string;
  };
};
