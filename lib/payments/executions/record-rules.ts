import type { Parts } from "#lib/holds/hold-store.ts";
import { add, bookOfCapture, countDown, countUp, max, min, subtract, zero, type Atomic } from "#lib/money.ts";
import type { PaymentRecord } from "#lib/payments/payment-schema.ts";
import { Problem, invalidField } from "#lib/problem.ts";

/** `amount` is of this part, in the payment's own asset. */
export type Part = { readonly outcome: PaymentRecord["outcome"]; readonly amount: Atomic };

export type RecordState = {
  readonly status: "open" | "closed";
  /** What a person is asked; not null after the end too, if more was recorded then. */
  readonly asks: string | null;
  /** The parts so far, in the payment's own asset. */
  readonly paid: Atomic;
  readonly refunded: Atomic;
  /** In the mandate's unit. */
  readonly hold: Parts;
  /** Of the payment's asset: its decimals, and what one whole asset counts as. */
  readonly decimals: number;
  readonly rate: Atomic;
};

/** Amounts are in the mandate's unit. Carried out in the order of the fields. */
export type RecordDecision = {
  readonly capture: Atomic;
  /** After the capture: what is open then. */
  readonly release: Atomic;
  readonly refund: Atomic;
  readonly closes: boolean;
  readonly exceeded: boolean;
};

/** Of all parts of a payment: far above what is paid, so that sums of such payments fit their columns. */
const MOST = 10n ** 30n;

const nothing: RecordDecision = { capture: zero, release: zero, refund: zero, closes: false, exceeded: false };

const mayNotClose = (): Problem =>
  new Problem("forbidden", {
    detail:
      "An agent records what it paid, with paid or partlyPaid. Only a person, or another key with payments:record, says that nothing was paid or that money came back.",
  });

/**
 * What a part does. The amounts of all parts together are counted in the unit and rounded up, so that any split ends at the same sum.
 * What an agent says frees nothing: the rest stays held until a person or another key closes the payment.
 * @throws Problem forbidden, invalid_request, conflict
 */
export function decideRecord(state: RecordState, { outcome, amount }: Part, mayClose: boolean): RecordDecision {
  if (outcome === "notPaid" || outcome === "refunded") {
    if (!mayClose) throw mayNotClose();
    return outcome === "notPaid" ? notPaid(state, amount) : refunded(state, amount);
  }
  if (amount === zero) throw invalidField("/amount", "A part that was paid is larger than zero.");
  const { hold } = state;
  const paid = add(state.paid, amount);
  const total = countUp({ ...state, amount: paid });
  if (max(paid, total) > MOST) throw invalidField("/amount", "The amount is larger than any payment.");
  const beyond = max(subtract(total, hold.held), zero);
  const capture = add(bookOfCapture({ ...state, amount: paid }, hold), beyond);
  const closes = mayClose && outcome === "paid" && mayEnd(state);
  const release = closes ? max(subtract(hold.open, capture), zero) : zero;
  return { ...nothing, capture, release, closes, exceeded: capture > hold.open };
}

/** A closed payment is closed again if somebody is asked about it, which answers the question. */
const mayEnd = ({ status, asks }: RecordState): boolean => status === "open" || asks !== null;

/** Closes the payment: what is still held is free again. */
function notPaid(state: RecordState, amount: Atomic): RecordDecision {
  const { hold } = state;
  if (amount !== zero) throw invalidField("/amount", "Nothing was paid, so the amount is 0.");
  if (!mayEnd(state)) throw new Problem("conflict", { detail: "This payment is closed. Nothing of it is held." });
  return { ...nothing, release: hold.open, closes: true };
}

/** The budget stays used. Rounded down, so that no more is shown as refunded than came back. */
function refunded(state: RecordState, amount: Atomic): RecordDecision {
  const total = add(state.refunded, amount);
  if (amount === zero) throw invalidField("/amount", "A refund is larger than zero.");
  if (total > state.paid) throw invalidField("/amount", "More would be refunded than was recorded as paid.");
  const { hold } = state;
  const counted = min(countDown({ ...state, amount: total }), hold.captured);
  return { ...nothing, refund: max(subtract(counted, hold.refunded), zero) };
}
