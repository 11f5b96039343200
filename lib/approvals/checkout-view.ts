import type { Basket, CheckoutApproval, CheckoutIntent, MandateChoice } from "#lib/approvals/checkout-schema.ts";
import type { AskRule } from "#lib/mandates/ask-rules.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

/** One budget of a mandate, before and after this payment. Amounts are decimal text in `unit`. */
export type BudgetView = {
  /** "total", or a window's key such as "day UTC". */
  readonly window: string;
  readonly unit: string;
  readonly limit: string;
  readonly spent: string;
  /** Held by other payments. This payment may have a hold of its own. */
  readonly heldByOthers: string;
  readonly available: string;
  /** The rest of the budget after this payment; absent if the payment does not fit. */
  readonly availableAfter?: string;
};

export type MandateView = MandateChoice & {
  readonly perPayment: string;
  readonly budgets: readonly BudgetView[];
  /** Why the mandate does not cover this checkout: full sentences, the most important first. Empty if it does. */
  readonly obstacles: readonly string[];
  /** The level that its policy requires. */
  readonly assuranceAsked: AssuranceLevel;
  /** The rules because of which a person is asked. Empty if only the agent asks. */
  readonly asks: readonly AskRule[];
};

export type LineView = Basket["lines"][number] & { readonly subtotal: string; readonly displaySubtotal: string };

export type StepUpReason = "amount" | "sessionAge" | "firstPayment";

/** Whether and how the person must prove their identity before they can approve. */
export type StepUpView = {
  readonly required: boolean;
  readonly reasons: readonly StepUpReason[];
  /** `done`: the step-up was done. `byPasskey`: by a passkey that signed these terms. */
  readonly done: boolean;
  readonly byPasskey: boolean;
  /** The level that the seller and resource require, in addition to the mandate. */
  readonly assuranceAsked: AssuranceLevel;
  readonly hasPasskey: boolean;
  readonly hasPassword: boolean;
};

/** A payee, and what the organization knows of it. */
export type PayeeView = {
  /** ASCII, with xn-- labels as they are. */
  readonly domain: string;
  /** The domain in its own script, if that differs. */
  readonly unicodeDomain?: string;
  readonly registered: boolean;
  readonly verified: boolean;
  /** The name in the registry. */
  readonly name?: string;
  readonly history: {
    /** Settled payments of this organization to the payee. If not `all`, older payments were not counted. */
    readonly paid: number;
    readonly all: boolean;
    /** The time of the first payment; absent if there is none. */
    readonly since?: string;
    /** Requests that people declined, and payments that mandates refused. */
    readonly declined: number;
    readonly refused: number;
  };
  /** The domain of a payee that was paid before and that a person could take this one for. */
  readonly looksLike?: string;
};

/** The data of the confirmation page. All of it comes from our records; `name`s and basket texts are the seller's unverified words. */
export type CheckoutView = {
  /** The database's time when the data was read, for the countdown. */
  readonly now: string;
  readonly intent: CheckoutIntent;
  readonly approval?: CheckoutApproval;
  readonly payee: PayeeView;
  readonly agent: { readonly subjectId: string; readonly name: string; readonly active: boolean };
  readonly organization: { readonly organizationId: string; readonly name: string };
  readonly requestedAt: string;
  /** The agent's own words, unchecked. */
  readonly purpose?: string;
  /** Who decided, and the reason that was given. */
  readonly decided?: {
    readonly by: string;
    readonly reason?: string;
    /** Who took the approval back, if somebody did. */
    readonly takenBack?: { readonly by: string; readonly at: string };
  };
  readonly amounts: {
    /** The amount that the seller receives, as text for people: "43.00 USDC". */
    readonly total: string;
    /** The part of the total that is in no line, such as shipping; absent if the lines add up to the total. */
    readonly rest?: string;
    readonly fee: {
      readonly amount: string;
      readonly display: string;
      readonly payer: "buyer" | "seller" | "split";
      readonly buyerShare: string;
    };
    /** The amount taken from the mandate's budget: the total and the buyer's share of the fee. */
    readonly charged: string;
    /** The same as decimal text. */
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
  /** Until when this person can let the request wait; absent if it cannot wait longer. */
  readonly moreTimeUntil?: string;
  /** The terms that this session was shown before, if they differ: the page marks the changes. */
  readonly before?: {
    readonly basketHash: string;
    readonly displayAmount: string;
    readonly payTo: string;
    readonly shownAt: string;
  };
};
