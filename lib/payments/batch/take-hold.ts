import { rateOf, takenBy } from "#lib/mandates/policy/compile-policy.ts";
import type { Decision, IntentFacts } from "#lib/mandates/policy/facts.ts";
import { addHold } from "#lib/mandates/usage.ts";
import { bucketAt, type Bucket } from "#lib/mandates/policy/windows.ts";
import { type Atomic, formatAmount, UNIT_DECIMALS } from "#lib/money.ts";
import type { Question } from "#lib/payments/batch/ask-person.ts";
import type { NewAuthorization } from "#lib/payments/batch/decide.ts";
import { payingSubjectOf } from "#lib/payments/queue-item.ts";
import type { Budget } from "#lib/payments/batch/facts.ts";

export type Hold = {
  readonly amount: Atomic;
  readonly approvalKey: string | null;
  /** Whether no clock ends it, because the payment is made elsewhere or by card: it counts as submitted, and is captured in parts. */
  readonly isKept: boolean;
  readonly buckets: readonly (Bucket & { readonly ceiling: Atomic | null })[];
};

/** The hold (reserved amount) that a decision takes. Null for the outcome deny, and if the same question is already open. */
export function holdFor(
  { outcome }: Decision,
  question: Question | null,
  budget: Budget,
  asked: IntentFacts,
  now: Date,
): Hold | null {
  if (outcome === "deny" || (question && !question.checkout)) return null;
  const approvalKey = question?.approvalKey ?? null;
  const buckets = budget.facts.policy.windows.map((window) => ({
    ...bucketAt(window, now),
    ceiling: window.limit ?? null,
  }));
  const amount = takenBy(budget.facts.policy, asked);
  if (amount === null) throw new Error("A payment was allowed in an asset without a rate.");
  return { amount, approvalKey, isKept: outcome === "allow" && (asked.record ?? asked.card) !== undefined, buckets };
}

/** What a payment counts as in the unit of the mandate, and the rate, such as "1.12 USD". */
export type CountedPayment = { readonly amount: Atomic; readonly rate: string };

/** Null without a unit, and if the policy has no rate for the asset. */
export function countedPayment({ facts: { policy } }: Budget, asked: IntentFacts): CountedPayment | null {
  const rate = rateOf(policy, asked);
  const amount = rate === null ? null : takenBy(policy, asked);
  return amount === null || rate === null ? null : { amount, rate: `${formatAmount(rate, UNIT_DECIMALS)} ${policy.asset}` };
}

/** Adds to the budget in memory what this decision uses, so that the next decision of the batch under the mandate counts it. */
export function book(
  { item, decision, hold, checkoutIntentId, authorizationId }: NewAuthorization,
  budget: Budget,
  now: Date,
): void {
  if (decision.outcome === "deny") return;
  budget.intentIds.add(item.intent.intentId);
  budget.nonces.add(item.intent.nonce);
  if (!hold) return;
  addHold(budget.usage, hold.amount, hold.buckets, now);
  if (hold.approvalKey !== null) {
    budget.openApprovals.set(hold.approvalKey, { checkoutIntentId, authorizationId, subjectId: payingSubjectOf(item) });
  }
}
