import type { CheckoutStatus, Outcome, ReservationStatus, SettlementStatus } from "#lib/vocabulary.ts";

/** The status of the decision, hold (reserved amount), checkout or settlement that says most about a payment. */
export type Stage =
  | { readonly of: "outcome"; readonly status: "deny" | "requireApproval" }
  | { readonly of: "reservation"; readonly status: ReservationStatus }
  | { readonly of: "checkout"; readonly status: CheckoutStatus }
  /** A person is asked in an earlier request for the same payment, and only that one can be paid. */
  | { readonly of: "repeat"; readonly status: "otherAgentsRequest" | "earlierRequest" }
  | { readonly of: "settlement"; readonly status: SettlementStatus };

export type StageFacts = {
  readonly outcome: Outcome;
  readonly hold: { readonly status: ReservationStatus; readonly expiresAt: Date } | null;
  /** The checkout in which a person is or was asked. */
  readonly checkout: { readonly status: CheckoutStatus; readonly expiresAt: Date } | null;
  /** The agent of the earlier request for the same payment; null if the payment has a request of its own, or none. */
  readonly repeats: { readonly byOther: boolean } | null;
  readonly attempts: readonly SettlementStatus[];
};

export function stageOf({ outcome, hold, checkout, repeats, attempts }: StageFacts, now: Date): Stage {
  if (outcome === "deny") return { of: "outcome", status: "deny" };
  // A payment has at most one execution that has not failed.
  const live = attempts.find((status) => status !== "failed");
  if (live) return { of: "settlement", status: live };
  if (repeats) return { of: "repeat", status: repeats.byOther ? "otherAgentsRequest" : "earlierRequest" };
  const held = hold?.status === "held" && hold.expiresAt > now;
  if (outcome === "requireApproval") {
    const asked = askedStage(checkout, held, now);
    if (asked) return asked;
  }
  if (held) return { of: "reservation", status: "held" };
  if (attempts.length > 0) return { of: "settlement", status: "failed" };
  // It is made elsewhere, so it has no attempts here.
  if (hold?.status === "submitted" || hold?.status === "captured") return { of: "reservation", status: hold.status };
  return { of: "reservation", status: hold?.status === "released" ? "released" : "expired" };
}

/** Null after the approval was used, or if there is neither a checkout nor a valid hold: nobody is asked any more. */
function askedStage(checkout: StageFacts["checkout"], held: boolean, now: Date): Stage | null {
  if (!checkout) return held ? { of: "outcome", status: "requireApproval" } : null;
  const { status, expiresAt } = checkout;
  if (status === "previewed" || status === "awaiting_approval") {
    return expiresAt > now ? { of: "outcome", status: "requireApproval" } : { of: "checkout", status: "expired" };
  }
  const ended = status === "rejected" || status === "expired" || status === "canceled" || status === "superseded";
  return ended || status === "approved" ? { of: "checkout", status } : null;
}
