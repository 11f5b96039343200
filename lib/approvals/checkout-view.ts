import type { Basket, CheckoutApproval, CheckoutIntent, MandateChoice } from "#lib/approvals/checkout.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

/** One budget of a mandate, before and after this payment. Amounts are decimal text in `unit`. */
export type BudgetView = {
  /** "total", or a window's key such as "day UTC". */
  readonly window: string;
  readonly unit: string;
  readonly limit: string;
  readonly spent: string;
  readonly reserved: string;
  readonly available: string;
  /** What is left once this payment is made; absent where it does not fit. */
  readonly availableAfter?: string;
};

export type MandateView = MandateChoice & {
  readonly perPayment: string;
  readonly budgets: readonly BudgetView[];
  /** Why it does not cover this checkout: full sentences, the weightiest first. Empty where it does. */
  readonly obstacles: readonly string[];
  /** What its policy asks for. */
  readonly assuranceAsked: AssuranceLevel;
};

export type LineView = Basket["lines"][number] & { readonly subtotal: string; readonly displaySubtotal: string };

export type StepUpReason = "amount" | "sessionAge" | "firstPayment";

/** Whether and how the person proves who he is before the button. */
export type StepUpView = {
  readonly required: boolean;
  readonly reasons: readonly StepUpReason[];
  /** Whether that was done already, and by a passkey that signed these terms. */
  readonly done: boolean;
  readonly byPasskey: boolean;
  /** What seller and resource ask for, beside the mandate. */
  readonly assuranceAsked: AssuranceLevel;
  readonly hasPasskey: boolean;
  readonly hasPassword: boolean;
};

/** What the confirmation page shows. Everything comes from our records; `name`s and basket texts are the seller's words, not checked. */
export type CheckoutView = {
  /** The database's time of this reading, for the countdown. */
  readonly now: string;
  readonly intent: CheckoutIntent;
  readonly approval?: CheckoutApproval;
  readonly payee: {
    /** ASCII, with xn-- labels as they are. */
    readonly domain: string;
    /** The same in its own script, where that differs. */
    readonly unicodeDomain?: string;
    readonly registered: boolean;
    readonly verified: boolean;
    readonly name?: string;
  };
  readonly agent: { readonly subjectId: string; readonly name: string; readonly active: boolean };
  readonly organization: { readonly organizationId: string; readonly name: string };
  readonly requestedAt: string;
  readonly amounts: {
    /** What the seller receives, for people: "43.00 USDC". */
    readonly total: string;
    /** The part of the total that no line names, such as shipping; absent where the lines come to the total. */
    readonly rest?: string;
    readonly fee: {
      readonly amount: string;
      readonly display: string;
      readonly payer: "buyer" | "seller" | "split";
      readonly buyerShare: string;
    };
    /** What the mandate's budget is charged: the total and the buyer's share of the fee. */
    readonly charged: string;
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
  /** What this session was shown before, where that was something else: the page marks what changed. */
  readonly before?: {
    readonly basketHash: string;
    readonly displayAmount: string;
    readonly payTo: string;
    readonly shownAt: string;
  };
};
