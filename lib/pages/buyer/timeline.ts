import { failures, isFailure, outsideWords } from "#lib/payments/refusals/decision-words.ts";
import { askerText, askerWord, type Asker } from "#lib/identity/asker.ts";
import { isolated } from "#lib/isolated.ts";
import type { CheckoutStatus, OrderStatus, Outcome, ReservationStatus, SettlementStatus } from "#lib/vocabulary.ts";

type Evidence = { readonly label: string; readonly value: string };

export type PaymentStep = {
  /** `stopped`: the payment, this attempt to pay or the order ended with this step. Absent: the step is in the future. */
  readonly state?: "done" | "now" | "stopped";
  readonly title: string;
  readonly at?: Date;
  /** The sentences can contain untrusted text, such as the agent's name, which is isolated. */
  readonly text?: string;
  /** The amount stays reserved until then at the latest. */
  readonly heldUntil?: Date;
  readonly evidence: readonly Evidence[];
};

export type Attempt = {
  readonly executionId: string;
  readonly status: SettlementStatus;
  readonly createdAt: Date;
  readonly resolvedAt: Date | null;
  /** False if the execution was refused at once, so that nothing was sent. */
  readonly submitted: boolean;
  readonly weSettle: boolean;
  readonly transaction: string | null;
  readonly failureCode: string | null;
  readonly failureDetail: string | null;
  readonly unknownSince: Date | null;
  /** When the signed payment expires, while its outcome is not known. */
  readonly heldUntil: Date | null;
};

export type PaymentFacts = {
  readonly authorizationId: string;
  readonly intentId: string;
  readonly outcome: Outcome;
  readonly createdAt: Date;
  /** Formatted text including the buyer's share of the fee: "20.20 USDC". */
  readonly amount: string;
  readonly network: string;
  readonly asker: Asker;
  /** Whether a card asked. Stripe moves the money, and tells what became of it. */
  readonly byCard: boolean;
  readonly hold: {
    readonly reservationId: string;
    readonly status: ReservationStatus;
    readonly createdAt: Date;
    readonly expiresAt: Date;
    readonly resolvedAt: Date | null;
  } | null;
  readonly asked: {
    readonly checkoutIntentId: string;
    readonly status: CheckoutStatus;
    readonly expiresAt: Date;
    readonly decided: {
      readonly by: string;
      readonly at: Date;
      readonly yes: boolean;
      readonly reason: string | null;
      readonly takenBack: { readonly by: string; readonly at: Date } | null;
    } | null;
  } | null;
  /** The agent that asked for the same payment before, in whose request a person decides; null if this payment has its own. */
  readonly repeats: { readonly asker: Asker; readonly byOther: boolean } | null;
  /** The person who allowed this refused payment once, or whose permission this allowed payment used. */
  readonly allowed: { readonly by: string; readonly at: Date } | null;
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
  readonly order: { readonly orderId: string; readonly status: OrderStatus | "new"; readonly at: Date } | null;
};

const id = (label: string, value: string): Evidence => ({ label, value });

function decision({ outcome, createdAt, asker, byCard, authorizationId, intentId, allowed }: PaymentFacts): PaymentStep {
  const who = byCard ? `A card of ${askerText(asker, isolated)}` : askerText(asker, isolated);
  const evidence = [id("authorization id", authorizationId), id("intent id", intentId)];
  const at = createdAt;
  switch (outcome) {
    case "allow":
      return {
        state: "done",
        title: "Authorized",
        at,
        text: `${who} asked, and ${allowed ? `${isolated(allowed.by)} had allowed this payment once` : "the policy allowed it"}.`,
        evidence,
      };
    case "requireApproval":
      return {
        state: "done",
        title: "Asked for approval",
        at,
        text: `${who} asked, and the policy asks a person first.`,
        evidence,
      };
    case "deny":
      return {
        state: "stopped",
        title: "Denied",
        at,
        text: `${who} asked, and the policy denied it. ${byCard ? "Stripe was told no." : "Nothing is held, nothing was paid."}`,
        evidence,
      };
  }
}

function reserved({ outcome, hold, amount }: PaymentFacts): PaymentStep[] {
  // Stripe may take what was denied. Then the hold has what it took, and reserved nothing before.
  if (!hold || outcome === "deny") return [];
  const text = `${amount} held under the mandate. It counts against every limit at once.`;
  return [{ state: "done", title: "Reserved", at: hold.createdAt, text, evidence: [id("reservation id", hold.reservationId)] }];
}

const isOpen = ({ status, expiresAt }: NonNullable<PaymentFacts["asked"]>, now: Date): boolean =>
  (status === "previewed" || status === "awaiting_approval") && expiresAt > now;

const undone = ({ by, at }: { readonly by: string; readonly at: Date }): PaymentStep => {
  const text = `${isolated(by)} took the approval back before it was used. Nothing was paid.`;
  return { state: "stopped", title: "Approval taken back", at, text, evidence: [] };
};

const waived = ({ outcome, allowed }: PaymentFacts): PaymentStep[] =>
  outcome === "deny" && allowed
    ? [
        {
          state: "done",
          title: "Allowed once",
          at: allowed.at,
          text: `${isolated(allowed.by)} allowed this payment once, if it is asked for again. This request stays refused.`,
          evidence: [],
        },
      ]
    : [];

const answered = ({ asker, byOther }: NonNullable<PaymentFacts["repeats"]>): PaymentStep => ({
  state: "stopped",
  title: byOther ? "Answered with another agent’s request" : "Answered with an earlier request",
  text: `${askerText(asker, isolated)} had asked for the same payment. A person decides about that request, and it is paid once at most.`,
  evidence: [],
});

function approval({ outcome, asked, hold, repeats }: PaymentFacts, now: Date): PaymentStep[] {
  if (repeats) return [answered(repeats)];
  if (!asked) {
    const waits = outcome === "requireApproval" && hold?.status === "held" && hold.expiresAt > now;
    return waits ? [{ state: "now", title: "Waits for a person", text: "Nothing is paid before.", evidence: [] }] : [];
  }
  const evidence = [id("checkout intent id", asked.checkoutIntentId)];
  const { decided, status, expiresAt } = asked;
  if (decided) {
    const { by, at, yes, reason, takenBack } = decided;
    const because = reason === null ? "" : ` The reason given: “${isolated(reason)}”`;
    return yes
      ? [
          { state: "done", title: "Approved", at, text: `${isolated(by)} approved it.`, evidence },
          ...(takenBack ? [undone(takenBack)] : []),
        ]
      : [{ state: "stopped", title: "Declined", at, text: `${isolated(by)} declined it. Nothing was paid.${because}`, evidence }];
  }
  if (status === "canceled") return [{ state: "stopped", title: "Canceled", text: "The request was canceled.", evidence }];
  if (status === "superseded")
    return [{ state: "stopped", title: "Replaced", text: "The price or the basket changed. Nothing was paid.", evidence }];
  return isOpen(asked, now)
    ? [{ state: "now", title: "Waits for a person", text: "Nothing is paid before.", evidence }]
    : [{ state: "stopped", title: "Not decided in time", at: expiresAt, text: "Nobody decided. Nothing was paid.", evidence }];
}

const meaningOf = ({ failureCode, failureDetail }: Attempt): string =>
  isFailure(failureCode) ? failures[failureCode] : failureDetail === null ? "The attempt failed." : isolated(failureDetail);

function attemptSteps(attempt: Attempt, number: number, { network }: PaymentFacts): PaymentStep[] {
  const { executionId, status, createdAt, resolvedAt, submitted, weSettle, transaction, unknownSince, heldUntil } = attempt;
  const held = heldUntil && { heldUntil };
  const evidence = [id("execution id", executionId)];
  const which = number === 1 ? "" : ` (attempt ${number})`;
  if (!submitted) {
    const text = `${meaningOf(attempt)} Nothing was sent.`;
    return [{ state: "stopped", title: `Credential refused${which}`, at: createdAt, text, evidence }];
  }
  const executed: PaymentStep = {
    state: "done",
    title: `Executed${which}`,
    at: createdAt,
    text: "x402 credential verified against the stored intent: amount, payee, token, network, signer.",
    evidence,
  };
  const proof = transaction === null ? [] : [id("settlement reference", transaction)];
  const unknown: PaymentStep[] = unknownSince
    ? [
        {
          state: status === "unknown" ? "now" : "done",
          title: `Outcome unknown${which}`,
          at: unknownSince,
          text: "The credential was submitted, and its outcome is not known yet. The amount stays held while we ask the network.",
          ...(status === "unknown" && held),
          evidence: [],
        },
      ]
    : [];
  const end: Readonly<Record<SettlementStatus, PaymentStep>> = {
    pending: {
      state: "now",
      title: `Waits for the seller${which}`,
      text: "The seller settles it. We watch the network.",
      ...held,
      evidence: [],
    },
    processing: {
      state: "now",
      title: `Being settled${which}`,
      text: weSettle ? "We submit it to the network." : "A transaction is known and not final yet.",
      ...held,
      evidence: proof,
    },
    unknown: { title: `Settled or failed${which}`, text: "Only what the network shows decides it.", evidence: proof },
    settled: {
      state: "done",
      title: `Settled${which}`,
      ...(resolvedAt && { at: resolvedAt }),
      text: `Transfer found on ${network}. The hold became a payment.`,
      evidence: proof,
    },
    failed: {
      state: "stopped",
      title: `Failed${which}`,
      ...(resolvedAt && { at: resolvedAt }),
      text: `${meaningOf(attempt)} The hold was released.`,
      evidence: proof,
    },
  };
  const after: PaymentStep[] =
    status === "pending" || status === "processing" ? [{ title: `Settlement${which}`, evidence: [] }] : [];
  return [executed, ...unknown, end[status], ...after];
}

/** What Stripe took although the policy had denied it. */
function takenNevertheless({ outcome, byCard, hold }: PaymentFacts): PaymentStep[] {
  if (!byCard || outcome !== "deny" || !hold) return [];
  const evidence = [id("reservation id", hold.reservationId)];
  return [{ ...outsideWords.card.taken, state: "now", at: hold.resolvedAt ?? hold.createdAt, evidence }];
}

/** The steps after the decision while nothing was sent: what the payment waits for, or why it ended. */
function waiting({ outcome, hold, asked, attempts, asker, byCard }: PaymentFacts, now: Date): PaymentStep[] {
  if (outcome === "deny" || attempts.some(({ submitted }) => submitted) || !hold) return [];
  const undecided = outcome === "requireApproval" && !asked?.decided;
  if (hold.status === "held" && hold.expiresAt > now) {
    const to = { title: "Settlement", evidence: [] };
    if (undecided) return asked && !isOpen(asked, now) ? [] : [{ title: "Execution", evidence: [] }, to];
    if (asked?.decided && !asked.decided.yes) return [];
    return [{ state: "now", title: `Waits for ${askerWord(asker)}`, text: "It was not paid yet.", evidence: [] }, to];
  }
  const at = hold.resolvedAt ?? hold.expiresAt;
  // A payment without attempts here is made elsewhere, or by card.
  const words = outsideWords[byCard ? "card" : "elsewhere"];
  if (hold.status === "submitted") return [{ ...words.submitted, state: "now", evidence: [] }];
  if (hold.status === "captured") return [{ ...words.captured, state: "done", at, evidence: [] }];
  return hold.status === "released"
    ? [{ state: "stopped", title: "Released", at, text: "The amount is free again. Nothing was paid.", evidence: [] }]
    : [
        {
          state: "stopped",
          title: "Expired",
          at,
          text: "It was not paid in time. The amount is free again.",
          evidence: [],
        },
      ];
}

const orders: Readonly<Partial<Record<OrderStatus | "new", Pick<PaymentStep, "state" | "title" | "text">>>> = {
  processing: { state: "now", title: "Order under way", text: "The seller has not confirmed the order yet. We ask again." },
  completed: { state: "done", title: "Order placed", text: "The seller confirmed the order." },
  failed: { state: "stopped", title: "Order failed", text: "The seller did not accept the order." },
};

function ordered({ order }: PaymentFacts): PaymentStep[] {
  const step = order && orders[order.status];
  if (!order || !step) return [];
  const at = order.status === "processing" ? {} : { at: order.at };
  return [{ ...step, ...at, evidence: [id("order id", order.orderId)] }];
}

export const paymentTimeline = (facts: PaymentFacts, now: Date): readonly PaymentStep[] => [
  decision(facts),
  ...waived(facts),
  ...takenNevertheless(facts),
  ...reserved(facts),
  ...approval(facts, now),
  ...facts.attempts.flatMap((attempt, at) => attemptSteps(attempt, at + 1, facts)),
  ...waiting(facts, now),
  ...ordered(facts),
];
