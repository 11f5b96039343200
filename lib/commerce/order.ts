import { Problem } from "#lib/problem.ts";
import type { ApprovalStatus, CheckoutStatus, OrderStatus, SettlementStatus } from "#lib/vocabulary.ts";

/** `new`: its key is known, and nothing was decided yet. */
export type OrderState = OrderStatus | "new";

/** The listed transitions; the database refuses every other one. A step may leave an order where it is. */
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

/** Nothing changes any more: a repeat is answered with the stored bytes. */
export const isTerminal = (state: OrderState): boolean => orderTransitions[state].length === 0;

export type OrderFacts = {
  readonly state: OrderState;
  /** It pays what was approved after a preview, and nothing else: it is never quoted anew. */
  readonly continued: boolean;
  /** SHA-256 of the credential that comes with this call; null without one. */
  readonly credential: string | null;
  /** Whether the service makes the credential itself: the mandate is registered on the chain for this payee. */
  readonly proves: boolean;
  /** Of the credential that went out, if one did. */
  readonly sent: string | null;
  /** The checkout in which a person is asked, with what was decided in it; null where nobody is asked. */
  readonly checkout: {
    readonly status: CheckoutStatus;
    readonly expiresAt: Date;
    readonly approval: { readonly status: ApprovalStatus; readonly expiresAt: Date } | null;
    /** False where the person was asked in another order's name. */
    readonly own: boolean;
  } | null;
  /** Until when what is held can be paid with; null where nothing is held. */
  readonly holdUntil: Date | null;
  /** Of the execution that is under way or done, whoever began it. */
  readonly settlement: SettlementStatus | null;
};

/**
 * What a call does to its order.
 * quote: read the storefront and decide. redeem: the buyer said yes. reject: he said no. supersede: what he was asked is gone.
 * resume: his yes was used up, and nothing was sent. pay: bind the credential. adopt: a credential was bound, and the order does not
 * know it yet. follow: send it to the storefront, and see what became of it. show: nothing.
 */
export type OrderStep = "quote" | "redeem" | "reject" | "supersede" | "resume" | "pay" | "adopt" | "follow" | "show";

/** @throws Problem authorization_consumed */
export function nextStep(facts: OrderFacts, now: Date): OrderStep {
  const { state, credential, sent } = facts;
  if (credential !== null && sent !== null && credential !== sent) {
    throw new Problem("authorization_consumed", {
      detail: "Another credential was sent for this order. Repeat the call without paymentCredential to see how it goes on.",
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
      // Another order used the answer up, or there was none.
      return "quote";
  }
}

export type Ending = {
  readonly settlement: SettlementStatus | null;
  /** What the storefront said after it was paid; null where it said nothing yet. */
  readonly storefront: "completed" | "refused" | "unknown" | null;
};

/** Complete is what the chain shows as paid and the storefront took; only evidence ends an order. */
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

/** What was approved is what is paid: all of it, or nothing. */
export const boundTo = (a: BoundTerms, b: BoundTerms): boolean =>
  a.basketHash === b.basketHash &&
  a.amount === b.amount &&
  a.asset === b.asset &&
  a.chain === b.chain &&
  a.payTo.toLowerCase() === b.payTo.toLowerCase() &&
  a.mandateId === b.mandateId &&
  a.agentId === b.agentId;
