import { Problem } from "#lib/problem.ts";
import type { ApprovalStatus, CheckoutStatus, OrderStatus, SettlementStatus } from "#lib/vocabulary.ts";

/** `new`: the key is stored, and nothing was decided yet. */
export type OrderState = OrderStatus | "new";

/** The database refuses every other transition. An order may also keep its state. */
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

/** Whether the order has ended. Repeated calls then get the stored answer. */
export const isTerminal = (state: OrderState): boolean => orderTransitions[state].length === 0;

export type OrderFacts = {
  readonly state: OrderState;
  /** Whether the order continues an approved checkout. It then pays exactly what was approved and never asks for a new quote. */
  readonly continued: boolean;
  /** SHA-256 of the credential in this call; null without one. */
  readonly credential: string | null;
  /** Whether the service makes the credential itself: the mandate is registered on the chain for this payee. */
  readonly proves: boolean;
  /** SHA-256 of the credential that was sent; null if none was sent. */
  readonly sent: string | null;
  /** The checkout in which a person is asked to approve; null if nobody is asked. */
  readonly checkout: {
    readonly status: CheckoutStatus;
    readonly expiresAt: Date;
    readonly approval: { readonly status: ApprovalStatus; readonly expiresAt: Date } | null;
    /** Whether the checkout was opened for this order. False if another order with the same basket asked first. */
    readonly own: boolean;
  } | null;
  /** When the hold expires; null without a hold. */
  readonly holdUntil: Date | null;
  /** The status of the execution that has not failed, even if executePayment started it. Null if there is none. */
  readonly settlement: SettlementStatus | null;
};

/**
 * The next step of an order:
 * - quote: read the storefront's offer and decide.
 * - redeem: use the buyer's approval.
 * - reject: the buyer declined.
 * - supersede: the offer that the buyer was shown has ended.
 * - resume: the approval was used, and no payment was started.
 * - pay: start the payment with the credential that the agent sent.
 * - adopt: record the payment of this authorization that the order does not record yet.
 * - follow: send the credential to the storefront and read the result.
 * - show: change nothing.
 */
export type OrderStep = "quote" | "redeem" | "reject" | "supersede" | "resume" | "pay" | "adopt" | "follow" | "show";

/** Decides the next step of an order from its facts. Pure. @throws Problem authorization_consumed */
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
      // Another order used the approval, or no person decided in time, so decide again.
      return "quote";
  }
}

export type Ending = {
  readonly settlement: SettlementStatus | null;
  /** The storefront's answer to the paid request; null without one. */
  readonly storefront: "completed" | "refused" | "unknown" | null;
};

/** An order ends only on evidence: it is complete if the payment is settled and the storefront accepted the order. */
export function stateAfterPaying({ settlement, storefront }: Ending): "processing" | "completed" | "failed" {
  if (settlement === "failed") return "failed";
  if (settlement !== "settled") return "processing";
  if (storefront === "completed") return "completed";
  return storefront === "refused" ? "failed" : "processing";
}

export type BoundTerms = {
  readonly basketHash: string;
  readonly amount: bigint;
  readonly asset: string;
  readonly chain: string;
  readonly payTo: string;
  readonly mandateId: string;
  readonly agentId: string;
};

/** Whether two payments have the same terms. An approval is valid only for exactly its own terms. */
export const boundTo = (a: BoundTerms, b: BoundTerms): boolean =>
  a.basketHash === b.basketHash &&
  a.amount === b.amount &&
  a.asset === b.asset &&
  a.chain === b.chain &&
  a.payTo.toLowerCase() === b.payTo.toLowerCase() &&
  a.mandateId === b.mandateId &&
  a.agentId === b.agentId;
