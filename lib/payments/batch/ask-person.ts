import type { LockedCheckout } from "#lib/approvals/decision/locked-checkout.ts";
import { basketOfPayment, openCheckout, type Basket } from "#lib/payments/open-checkout.ts";
import type { NewCheckout } from "#lib/approvals/checkout-rows.ts";
import type { Call } from "#lib/call-schema.ts";
import type { ApprovalRequest, Decision, Finding, Findings } from "#lib/mandates/policy/facts.ts";
import { asksPerson, renderReasons } from "#lib/mandates/policy/render-reasons.ts";
import { repeated } from "#lib/mandates/policy/sentences-limits.ts";
import { formatAmount, subtract } from "#lib/money.ts";
import { referenceShown } from "#lib/payments/batch/made-elsewhere.ts";
import type { RegisteredResource, RegisteredSeller } from "#lib/payments/offers/compare-intent.ts";
import { resourceInIntent, type Terms } from "#lib/payments/offers/present-intent.ts";
import type { OfferJudgement } from "#lib/payments/unregistered-offer.ts";
import { has402, type PaymentIntent } from "#lib/payment-intent.ts";
import { checkoutDraftOf, payingSubjectOf, type Item } from "#lib/payments/queue-item.ts";
import type { Budget, BatchFacts } from "#lib/payments/batch/facts.ts";
import { earliest } from "#lib/time.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

export type OpenApproval = {
  /** Null only if an open request for approval in the database has no checkout; then the agent gets no link. */
  readonly checkoutIntentId: string | null;
  readonly authorizationId: string;
  /** Only this subject may execute the payment. Null if the request for approval has no checkout. */
  readonly subjectId: string | null;
};

/** Equal payments under a mandate have the same approval key, and each key has at most one open question. */
export type Question = OpenApproval & {
  readonly approvalKey: string;
  /** The new checkout to open; null if the same question is already open. */
  readonly checkout: Omit<NewCheckout, "authorizationId"> | null;
};

type Parties = {
  readonly seller: RegisteredSeller | null;
  readonly resource: RegisteredResource | null;
  readonly offered: OfferJudgement | null;
  readonly read: Terms;
};

const domainOf = ({ intent }: Item, { seller, offered }: Parties): string =>
  seller?.domain ?? offered?.facts.domain ?? intent.seller.domain ?? (has402(intent) ? null : intent.seller.name) ?? "";

/** The basket of an order, or one line with the resource. */
export function basketAsked(item: Item, parties: Parties): Basket {
  const { seller, resource, read } = parties;
  const { asset, challenge } = item.intent;
  const reference = referenceShown(item.intent);
  const amount = formatAmount(read.amount, read.digits);
  const intent = { ...resourceInIntent(item.intent, resource), amount, asset, reference, ...(challenge && { challenge }) };
  const ids = { sellerId: seller?.sellerId ?? null, resourceId: resource?.resourceId ?? null, domain: domainOf(item, parties) };
  return basketOfPayment({ ...ids, tokenDecimals: read.digits, intent }, checkoutDraftOf(item)?.lines);
}

export function questionOf(item: Item, parties: Parties) {
  const { seller, resource, read } = parties;
  const basket = basketAsked(item, parties);
  const payee = `${seller?.sellerId ?? domainOf(item, parties)} ${resource?.resourceId ?? item.intent.payTo}`;
  const isBasket = checkoutDraftOf(item) || item.intent.paymentChallengeType === "record";
  const approvalKey = isBasket ? `basket ${basket.hash} ${read.amount}` : `${payee} ${read.amount}`;
  return { approvalKey, basket };
}

type Asking = Parties & {
  readonly question: ReturnType<typeof questionOf> | null;
  readonly intent: PaymentIntent;
  readonly expiresAt: Date;
  readonly authorizationId: string;
};

export function askPerson(item: Item, asking: Asking, budget: Budget, now: Date): Question {
  const { seller, resource, read, intent, authorizationId, expiresAt } = asking;
  if (!asking.question) throw new Error("A rule asks a person, which mayAsk did not tell.");
  const { approvalKey, basket } = asking.question;
  const open = budget.openApprovals.get(approvalKey);
  if (open !== undefined) return { ...open, approvalKey, checkout: null };
  const draft = checkoutDraftOf(item);
  const checkout = openCheckout({
    organizationId: item.organizationId,
    environment: item.environment,
    ownerSubjectId: payingSubjectOf(item),
    mandateId: item.mandateId,
    sellerId: seller?.sellerId ?? null,
    resourceId: resource?.resourceId ?? null,
    domain: domainOf(item, asking),
    amount: read.amount,
    tokenAddress: read.asset.tokenAddress,
    tokenDecimals: read.digits,
    basket,
    intent,
    draft,
    expiresAt: draft?.quoteExpiresAt ? earliest(draft.quoteExpiresAt, expiresAt) : expiresAt,
    now,
  });
  const { checkoutIntentId, ownerSubjectId: subjectId } = checkout;
  return { approvalKey, checkoutIntentId, authorizationId, subjectId, checkout };
}

export type AskingTerms = {
  readonly checkoutUrl: (checkoutIntentId: string) => string;
  readonly pollCheckout: (checkoutIntentId: string) => Call;
  readonly execute: (authorizationId: string) => Call;
  readonly record: (authorizationId: string) => Call;
};

/** Only the agent that asked may execute the payment and gets the call for it; an order is continued by a different call. */
function askingOf(question: Question, item: Item, terms: AskingTerms): ApprovalRequest | null {
  const { checkoutIntentId, authorizationId, subjectId } = question;
  if (checkoutIntentId === null) return null;
  const next = item.intent.paymentChallengeType === "record" ? terms.record : terms.execute;
  const executes = !item.purchase && subjectId === payingSubjectOf(item);
  return {
    href: terms.checkoutUrl(checkoutIntentId),
    checkoutIntentId,
    pollWith: terms.pollCheckout(checkoutIntentId),
    ...(executes && { next: next(authorizationId) }),
  };
}

/** Adds the next calls to the findings that ask a person, and a finding if the same question was already open. */
export function withAsking(decision: Decision, question: Question | null, item: Item, terms: AskingTerms | null): Decision {
  const asking = question && terms && askingOf(question, item, terms);
  if (!asking) return decision;
  const [renderer, version, unit, requested, ...all] = decision.findings;
  const asked = all.map((finding): Finding => (asksPerson(finding) ? [...finding, asking] : finding));
  const isOwn = question.subjectId === payingSubjectOf(item) ? 1 : 0;
  const first: Finding[] = question.checkout ? [] : [[repeated.id, question.authorizationId, isOwn]];
  const findings: Findings = [renderer, version, unit, requested, ...asked, ...first];
  return { ...decision, findings, reasons: renderReasons(findings) };
}

/** Whether the agent that pays is active. True if the caller itself pays, because its key or session was already checked. */
export const agentLive = ({ purchase }: Item, facts: BatchFacts): boolean =>
  purchase?.kind !== "approval" || facts.checkouts.get(purchase.checkoutIntentId)?.agentLive !== false;

export const assuranceReached = ({ purchase }: Item, facts: BatchFacts): AssuranceLevel =>
  facts.checkouts.get(purchase?.checkoutIntentId ?? "")?.assuranceLevel ?? "softwareApproved";

/** The payment takes over the checkout's hold, which must not count twice or start a cooldown that denies its own payment. */
export function withoutOwnHold(budget: Budget, { held }: LockedCheckout): Budget {
  if (held?.status !== "held") return budget;
  const { amount } = held;
  const own = new Set(held.buckets.map(([key, start]) => `${key} ${start}`));
  const buckets = new Map(
    [...budget.usage.buckets].map(([key, list]) => [
      key,
      list.map((bucket) =>
        own.has(`${key} ${bucket.start.getTime()}`)
          ? { ...bucket, reserved: subtract(bucket.reserved, amount), payments: bucket.payments - 1 }
          : bucket,
      ),
    ]),
  );
  const { spent, reserved } = budget.usage;
  return { ...budget, usage: { spent, reserved: subtract(reserved, amount), lastHeldAt: null, buckets } };
}
