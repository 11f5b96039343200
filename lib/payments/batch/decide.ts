import { agentKey, requireRoom, withOpened } from "#lib/approvals/request-limits.ts";
import type { NewCheckout } from "#lib/approvals/checkout-rows.ts";
import { presentFeeQuote, type Fee } from "#lib/billing/fees.ts";
import { agentPaused } from "#lib/http/access.ts";
import { QUOTE_MS } from "#lib/holds/stored-intent.ts";
import { idUnder, newId } from "#lib/ids.ts";
import type { Decision } from "#lib/mandates/policy/facts.ts";
import { zero, type Atomic } from "#lib/money.ts";
import { askPerson, withAsking, withoutOwnHold } from "#lib/payments/batch/ask-person.ts";
import type { RegisteredResource, RegisteredSeller } from "#lib/payments/offers/compare-intent.ts";
import type { PaymentIntent } from "#lib/payment-intent.ts";
import { beforeDeciding, recordOf, type PurchaseRecord } from "#lib/payments/batch/purchase.ts";
import { capabilityFor, hasHold, isApproved, refusal, type Answer, type Item, type Purchase } from "#lib/payments/queue-item.ts";
import { AUTHORIZATION_MS, judge, type Judgement, type BatchTerms } from "#lib/payments/batch/judge-item.ts";
import type { Budget, BatchFacts } from "#lib/payments/batch/facts.ts";
import type { DueProbe } from "#lib/payments/offers/required-probe.ts";
import type { NewCardPart } from "#lib/holds/card-store.ts";
import { cardPartOf } from "#lib/payments/batch/by-card.ts";
import { bookReference, recordedRow, type Recorded } from "#lib/payments/batch/made-elsewhere.ts";
import { presentIntent } from "#lib/payments/offers/present-intent.ts";
import { renderAnswer } from "#lib/holds/render-answer.ts";
import { book, countedPayment, holdFor, type CountedPayment, type Hold } from "#lib/payments/batch/take-hold.ts";
import { isProblem, notFound, Problem } from "#lib/problem.ts";
import { earliest, minutes } from "#lib/time.ts";

export type NewAuthorization = {
  readonly item: Item;
  readonly authorizationId: string;
  readonly policyVersion: number;
  readonly decision: Decision;
  readonly intent: PaymentIntent;
  readonly amount: Atomic;
  readonly tokenDecimals: number;
  readonly counted: CountedPayment | null;
  readonly fee: Fee;
  readonly seller: RegisteredSeller | null;
  readonly resource: RegisteredResource | null;
  /** The payee's address. Null if there is neither a registered resource nor an offer that was compared. */
  readonly payTo: string | null;
  readonly maxTimeoutSeconds: number;
  readonly feeScheduleId: string;
  readonly hold: Hold | null;
  /** Null unless the payment is made elsewhere and held. */
  readonly recorded: Recorded | null;
  /** Null unless a card asks. */
  readonly cardPart: NewCardPart | null;
  /** The checkout that is opened together with this authorization; null if no person is asked or the question is already open. */
  readonly checkout: NewCheckout | null;
  /** The checkout in which a person is asked, also that of an earlier payment with the same question; null if none is asked. */
  readonly checkoutIntentId: string | null;
  /** The waiver that this payment uses; null if it uses none. */
  readonly waiverId: string | null;
  readonly expiresAt: Date;
  readonly createdAt: Date;
  readonly body: string;
};

const DEFAULT_TIMEOUT_SECONDS = 60;

/** Stripe repeats an event for three days. If none has told after this time what became of a payment by card, a person is asked. */
const CARD_CONFIRMED_MS = minutes(4 * 24 * 60);

export type ItemRecord = PurchaseRecord & { readonly item: Item };

type Outcome = { readonly answers: Answer[]; readonly rows: NewAuthorization[]; readonly records: ItemRecord[] };

/** In the order of `items`: each decision adds to `facts` what it uses, so that later payments of the batch count it. */
export function decideBatch(items: readonly Item[], facts: BatchFacts, terms: BatchTerms): Outcome {
  const rows: NewAuthorization[] = [];
  const records: ItemRecord[] = [];
  const answers = items.map((item): Answer => {
    try {
      const early = answerBeforeDeciding(item, facts, terms);
      if (early) return early;
      const budget = facts.budgets.get(item.mandateId);
      if (!budget || budget.organizationId !== item.organizationId) return refusal(notFound("mandate"));
      if ("unreadable" in budget) throw budget.unreadable;
      const done = decideOne(item, budget, facts, terms);
      if ("probe" in done) return { kind: "probe", probe: done.probe };
      const { row, record } = done;
      if (row) {
        book(row, budget, facts.now);
        countRequest(row, facts);
        if (row.recorded) bookReference(item, row.authorizationId, facts);
        if (row.waiverId !== null) facts.usedWaivers.add(row.waiverId);
        rows.push(row);
      }
      if (record) records.push({ ...record, item });
      return { kind: "reply", status: record?.status ?? 200, body: record?.body ?? row?.body ?? "", replayed: false };
    } catch (error) {
      if (isProblem(error)) return refusal(error);
      terms.onBug(item, error);
      return refusal(new Problem("internal_error", { detail: "Something went wrong on our side. Nothing was authorized." }));
    }
  });
  return { answers, rows, records };
}

/** Adds the checkout that this payment opens to the agent's open requests, so that later payments of the batch count it. */
function countRequest({ checkout }: NewAuthorization, { requests }: BatchFacts): void {
  const known = checkout && requests.get(agentKey(checkout));
  if (known) requests.set(agentKey(checkout), withOpened(known, checkout));
}

function unknownAsker({ asker }: Item): Problem {
  if (asker.kind === "key") return new Problem("api_key_invalid", { detail: "This API key is not valid." });
  if (asker.kind === "session") return new Problem("session_expired", { detail: "Your session has ended. Sign in again." });
  return new Problem("forbidden", {
    detail: "The connection, its card or the card's agent has ended, or pays under another mandate.",
  });
}

/** The refusal or the stored reply that answers the payment without a decision; null if there is neither. */
function answerBeforeDeciding(item: Item, facts: BatchFacts, terms: BatchTerms): Answer | null {
  const may = facts.mayAuthorize(item);
  if (may === null) {
    return refusal(unknownAsker(item));
  }
  if (may === "paused") return refusal(agentPaused());
  if (!may) {
    return refusal(new Problem("capability_required", { detail: `This needs the capability ${capabilityFor(item)}.` }));
  }
  // Authorizations of orders, continuations and approvals have other slots, so a purchase without a key finds nothing here.
  const old =
    item.purchase?.kind === "approval" && item.purchase.hasKey ? facts.replies.get(item.slot) : facts.stored.get(item.slot);
  if (!old) return null;
  if (old.fingerprint !== item.fingerprint) return refusal(terms.keyReused());
  return { kind: "reply", status: old.status, body: old.body, replayed: true };
}

type Done = { readonly row: NewAuthorization | null; readonly record: PurchaseRecord | null } | { readonly probe: DueProbe };

function decideOne(item: Item, budget: Budget, facts: BatchFacts, terms: BatchTerms): Done {
  if (item.purchase) return decidePurchase(item, item.purchase, budget, facts, terms);
  const judged = judge(item, budget, facts, terms);
  return judged.dueProbe ? { probe: judged.dueProbe } : { row: decideItem(item, judged, budget, facts, terms), record: null };
}

function decidePurchase(item: Item, purchase: Purchase, budget: Budget, facts: BatchFacts, terms: BatchTerms): Done {
  const { now } = facts;
  const { validUntil } = budget.facts.policy;
  const locked = facts.checkouts.get(purchase.checkoutIntentId ?? "") ?? null;
  const instead = beforeDeciding({ item, locked, now }, purchase);
  if (instead) return { row: null, record: instead };
  if (hasHold(item) && locked) {
    const { decision, assuranceAsked, dueProbe } = judge(item, withoutOwnHold(budget, locked), facts, terms);
    if (dueProbe) return { probe: dueProbe };
    const authorizationId = locked.checkout.authorizationId ?? "";
    const expiresAt = locked.held?.expiresAt ?? now;
    const deadline = deadlineOf(budget, now);
    const decided = {
      decision,
      assuranceAsked,
      authorizationId,
      expiresAt,
      validUntil,
      deadline,
      body: null,
      checkoutIntentId: null,
    };
    return { row: null, record: recordOf({ item, locked, now, decided }, purchase) };
  }
  const judged = judge(item, budget, facts, terms);
  if (judged.dueProbe) return { probe: judged.dueProbe };
  const row = decideItem(item, judged, budget, facts, terms);
  const decided = { ...row, validUntil, deadline: deadlineOf(budget, now), assuranceAsked: judged.assuranceAsked };
  return { row, record: recordOf({ item, locked, now, decided }, purchase) };
}

const deadlineOf = ({ facts: { policy } }: Budget, now: Date): Date => new Date(now.getTime() + policy.records.deadlineMs);

function lastMoment(item: Item, { decision, read, asked }: Judgement, budget: Budget, now: Date): Date {
  const { outcome } = decision;
  const { policy } = budget.facts;
  if (outcome === "deny") return now;
  // A payment that is made elsewhere is held until somebody records it, so `expiresAt` of the intent says only when to answer.
  if (asked.record && outcome === "allow") return deadlineOf(budget, now);
  if (asked.card && outcome === "allow") return new Date(now.getTime() + CARD_CONFIRMED_MS);
  const life = outcome === "requireApproval" ? policy.approval.requestMs : AUTHORIZATION_MS;
  const capped = isApproved(item) ? [] : [new Date(now.getTime() + life)];
  return earliest(read.expiresAt, ...capped, ...(policy.validUntil ? [policy.validUntil] : []));
}

function decideItem(item: Item, judged: Judgement, budget: Budget, facts: BatchFacts, terms: BatchTerms): NewAuthorization {
  const { intent } = item;
  const { now } = facts;
  const { seller, resource, offered, read, quoted, asked } = judged;
  const { outcome } = judged.decision;
  const expiresAt = lastMoment(item, judged, budget, now);
  const authorizationId = newId("authorization");
  const quote = {
    feeQuoteId: idUnder("feeQuote", authorizationId),
    createdAt: now,
    expiresAt: new Date(now.getTime() + QUOTE_MS),
  };
  const feeQuote = presentFeeQuote({ ...quoted, ...quote, protocol: intent.paymentChallengeType });
  const presented = presentIntent({ item, seller, resource, offered, terms: read, feeQuote, createdAt: now });
  const asking = { ...judged, intent: presented, expiresAt, authorizationId };
  const question = outcome === "requireApproval" ? askPerson(item, asking, budget, now) : null;
  const opened = question?.checkout && facts.requests.get(agentKey(question.checkout));
  if (question?.checkout && terms.asking && !opened) throw new Error("The requests of this agent were not counted.");
  if (opened) requireRoom(opened, now);
  const decision = withAsking(judged.decision, question, item, terms.asking);
  const hold = holdFor(decision, question, budget, asked, now);
  const recorded = hold && recordedRow(item, { authorizationId, createdAt: now, deadline: deadlineOf(budget, now) }, facts);
  const answered = {
    authorizationId,
    mandateId: item.mandateId,
    intentId: intent.intentId,
    outcome: decision.outcome,
    denialCode: decision.denialCode ?? null,
    held: hold !== null,
    createdAt: now,
    expiresAt,
  };
  return {
    item,
    authorizationId,
    policyVersion: budget.facts.version,
    decision,
    intent: presented,
    amount: read.amount,
    tokenDecimals: read.digits,
    counted: countedPayment(budget, asked),
    fee: quoted.fee,
    seller,
    resource,
    payTo: resource?.paymentConfig.payTo ?? (offered?.accepted ? asked.payTo : null),
    maxTimeoutSeconds: resource?.paymentConfig.maxTimeoutSeconds ?? offered?.maxTimeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    feeScheduleId: quoted.schedule.feeScheduleId,
    hold,
    recorded,
    cardPart: cardPartOf(item, authorizationId, hold ? read.amount : zero),
    checkout: question?.checkout ? { ...question.checkout, authorizationId } : null,
    checkoutIntentId: question?.checkoutIntentId ?? null,
    waiverId: judged.waiverId,
    expiresAt,
    createdAt: now,
    body: renderAnswer(answered, decision.reasons),
  };
}
