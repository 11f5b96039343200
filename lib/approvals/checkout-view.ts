import type { Basket, CheckoutApproval, CheckoutIntent, MandateChoice } from "#lib/approvals/checkout-schema.ts";
import type { Asker } from "#lib/identity/asker.ts";
import type { AskRule } from "#lib/mandates/policy/ask-rules.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

/** A budget before and after this payment; amounts are decimal text in `unit`. */
export type BudgetView = {
  /** "total" for the limit on the total, or the key of a time window such as "day UTC". */
  readonly window: string;
  readonly unit: string;
  readonly limit: string;
  readonly spent: string;
  /** What other payments reserve, without this payment's own amount; 0 for a limit on the number of payments. */
  readonly heldByOthers: string;
  readonly available: string;
  /** Absent if the payment does not fit. */
  readonly availableAfter?: string;
};

export type MandateView = MandateChoice & {
  readonly perPayment: string;
  /** What this payment takes from the budgets: decimal text in `asset`, which is another one than the payment's if it has a unit. */
  readonly charged: string;
  readonly budgets: readonly BudgetView[];
  /** In the order of DenialCode. May be empty although the mandate cannot pay: only `match` says whether it can. */
  readonly obstacles: readonly string[];
  /** The level that the mandate's policy requires. */
  readonly assuranceAsked: AssuranceLevel;
  /** The rules that require an approval. Empty if the agent asked without such a rule, or if the decision is not stored. */
  readonly asks: readonly AskRule[];
};

export type LineView = Basket["lines"][number] & {
  /** What the seller's 402 calls the resource whose address is the name of this line. Nobody has checked it. */
  readonly title?: string;
  readonly subtotal: string;
  readonly displaySubtotal: string;
};

export type StepUpReason = "amount" | "unverifiedPayee" | "sessionAge" | "firstPayment";

export type StepUpView = {
  readonly required: boolean;
  readonly reasons: readonly StepUpReason[];
  /** The limit that the amount exceeds together with `lately`, what counts of this person's approvals within a day. */
  readonly limit?: { readonly above: string; readonly lately?: string };
  /** How much more the person may approve for the payee before the amount requires a new proof of identity; decimal text. */
  readonly room: string;
  /** Whether the person has proved their identity again in this session for this checkout. */
  readonly done: boolean;
  /** Whether a passkey that signed these terms proved the person's identity. */
  readonly byPasskey: boolean;
  /** The higher of the levels that seller and resource require; the mandate's own requirement is in MandateView. */
  readonly assuranceAsked: AssuranceLevel;
  readonly hasPasskey: boolean;
  readonly hasPassword: boolean;
};

export type PayeeView = {
  /** In ASCII, so labels in other scripts begin with xn--. Of a payee that is paid elsewhere: the name that the agent wrote. */
  readonly domain: string;
  /** The domain in its own script; absent if it has only ASCII letters. */
  readonly unicodeDomain?: string;
  readonly registered: boolean;
  readonly verified: boolean;
  /** Absent if the payee is not registered. */
  readonly name?: string;
  readonly history: {
    /** The number of settled payments of this organization to the payee. */
    readonly paid: number;
    /** False if the organization has so many payments that only the newest were searched. */
    readonly all: boolean;
    /** The time of the first payment; absent if there is none. */
    readonly since?: string;
    /** How many of the newest checkouts were for this payee and were declined, or had their approval taken back. */
    readonly declined: number;
    /** How many of the newest payments that mandates refused were for this payee. */
    readonly refused: number;
  };
  /** The domain of a payee that was paid before this one, if a person could confuse the two domains. */
  readonly looksLike?: string;
};

/** The payee's name and the texts of the basket come from the seller or the agent, and nobody has checked them. */
export type CheckoutView = {
  /** The database's time when the data was read, for the countdown. */
  readonly now: string;
  readonly intent: CheckoutIntent;
  readonly approval?: CheckoutApproval;
  readonly payee: PayeeView;
  readonly agent: Asker & {
    /** False for a revoked service account, and for a person who has left the organization. */
    readonly active: boolean;
    /** A paused agent cannot use an approval. */
    readonly paused: boolean;
  };
  readonly organization: { readonly organizationId: string; readonly name: string };
  /** Later requests for the same payment, which are answered with this one. */
  readonly alsoAsked: readonly { readonly authorizationId: string; readonly asker: Asker }[];
  readonly requestedAt: string;
  /** The purpose in the agent's own words, which nobody has checked. */
  readonly purpose?: string;
  /** `by` is the name of the person who decided, or their id if the name is unknown. */
  readonly decided?: {
    readonly by: string;
    readonly reason?: string;
    readonly takenBack?: { readonly by: string; readonly at: string };
  };
  /** Absent unless the stored status of the approval is `pending` or `consumed`. */
  readonly authorizationId?: string;
  readonly amounts: {
    /** The price, as text for people: "43.00 USDC". */
    readonly total: string;
    /** The part of the total that no line of the basket contains; absent if there is none. */
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
  /** Set if the agent pays elsewhere, such as by a transfer. Only a few characters of the account are stored. */
  readonly elsewhere?: {
    readonly reference: string;
    readonly account?: { readonly kind: "iban" | "email" | "account"; readonly value: string };
  };
  readonly mandates: readonly MandateView[];
  readonly stepUp: StepUpView;
  readonly mayDecide: boolean;
  /** The latest time to which this person can extend the request; absent if they cannot extend it. */
  readonly moreTimeUntil?: string;
  /** The terms that this session was shown earlier, if they differ from the terms now. */
  readonly before?: {
    readonly basketHash: string;
    readonly displayAmount: string;
    readonly payTo: string;
    readonly shownAt: string;
  };
};
