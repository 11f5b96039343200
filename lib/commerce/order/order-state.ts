import { Problem } from "#lib/problem.ts";
import type { ApprovalStatus, CheckoutStatus, OrderStatus, SettlementStatus } from "#lib/vocabulary.ts";

/** `new` means that the order is stored and no step has set another state yet. */
export type OrderState = OrderStatus | "new";

/** An order may also keep its state. A trigger in the database refuses every other change of the state. */
export const orderTransitions: Readonly<Record<OrderState, readonly OrderState[]>> = {
  new: ["paymentCredentialRequired", "approvalRequired", "denied", "setupRequired", "quoteChanged"],
  setupRequired: ["paymentCredentialRequired", "approvalRequired", "denied"],
  approvalRequired: ["paymentCredentialRequired", "processing", "quoteChanged", "denied", "setupRequired"],
  paymentCredentialRequired: ["processing", "approvalRequired", "quoteChanged", "denied", "setupRequired"],
  processing: ["completed", "failed"],
  completed: [],
  failed: [],
  denied: [],
  quoteChanged: [],
};

/** If true, later calls without a signed payment get the stored final answer. */
export const isTerminal = (state: OrderState): boolean => orderTransitions[state].length === 0;

export type OrderFacts = {
  readonly state: OrderState;
  /** Whether continueCheckout made the order. It pays exactly the approved terms: a new quote with other terms ends it. */
  readonly continued: boolean;
  /** The SHA-256 hash of the signed payment in this call; null without one. */
  readonly credential: string | null;
  /** Whether the service signs the payment itself; false outside of the state paymentCredentialRequired. */
  readonly proves: boolean;
  /** The SHA-256 hash of the signed payment with which the order's payment was started; null if none was started. */
  readonly sent: string | null;
  /** The checkout in which a person is or was asked to approve the order; null if nobody was asked. */
  readonly checkout: {
    readonly status: CheckoutStatus;
    readonly expiresAt: Date;
    readonly approval: { readonly status: ApprovalStatus; readonly expiresAt: Date } | null;
    /** Whether the checkout names this order. Another order may have asked for the same basket first, or used the approval. */
    readonly own: boolean;
  } | null;
  /** When the reservation of the amount expires; null if no amount is reserved or the payment was submitted already. */
  readonly holdUntil: Date | null;
  /** The status of the execution that has not failed, also if the agent started it by executePayment; null if there is none. */
  readonly settlement: SettlementStatus | null;
};

/**
 * `quote` reads a new offer to decide its payment; `supersede` ends the order as quoteChanged; `show` changes nothing.
 * `resume` lets an order with a used approval wait for its payment; `adopt` stores the id of an execution of another call.
 */
export type OrderStep = "quote" | "redeem" | "reject" | "supersede" | "resume" | "pay" | "adopt" | "follow" | "show";

/** @throws Problem authorization_consumed */
export function nextStep(facts: OrderFacts, now: Date): OrderStep {
  const { state, credential, sent } = facts;
  if (credential !== null && sent !== null && credential !== sent) {
    throw new Problem("authorization_consumed", {
      detail:
        "Another credential was sent for this order. Repeat the call without paymentCredential to see the state of the order.",
    });
  }
  switch (state) {
    case "new":
      return facts.continued ? "redeem" : "quote";
    case "setupRequired":
      return "quote";
    case "approvalRequired":
      return facts.settlement === null ? afterAsking(facts, now) : "adopt";
    case "paymentCredentialRequired":
      if (facts.settlement !== null) return "adopt";
      if (!isLive(facts.holdUntil, now)) return facts.continued ? "supersede" : "quote";
      return credential === null && !facts.proves ? "show" : "pay";
    case "processing":
      return "follow";
    case "completed":
    case "failed":
    case "denied":
    case "quoteChanged":
      return "show";
  }
}

const isLive = (until: Date | null, now: Date): boolean => until !== null && until > now;

function afterAsking({ checkout, holdUntil }: OrderFacts, now: Date): OrderStep {
  if (!checkout) return "quote";
  const { status, approval, own } = checkout;
  switch (status) {
    case "previewed":
    case "awaiting_approval":
      return checkout.expiresAt <= now ? "quote" : "show";
    case "approved":
      if (!own) return "show";
      return approval?.status === "pending" && approval.expiresAt > now ? "redeem" : "quote";
    case "rejected":
      return "reject";
    case "superseded":
      return own ? "supersede" : "quote";
    case "authorized":
      return own && isLive(holdUntil, now) ? "resume" : "quote";
    case "executing":
    case "completed":
    case "expired":
    case "canceled":
    case "failed":
      // The approval was used for another order or for a payment that failed, or the checkout ended without a usable approval.
      return "quote";
  }
}

export type Ending = {
  readonly settlement: SettlementStatus | null;
  /** The storefront's answer to the request that contained the signed payment; null without one. */
  readonly storefront: "completed" | "refused" | "unknown" | null;
};

/** Complete only if the payment is settled on the chain and the storefront has accepted the order. */
export function stateAfterPaying({ settlement, storefront }: Ending): "processing" | "completed" | "failed" {
  if (settlement === "failed") return "failed";
  if (settlement !== "settled") return "processing";
  if (storefront === "completed") return "completed";
  return storefront === "refused" ? "failed" : "processing";
}
