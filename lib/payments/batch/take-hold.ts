import type { Decision, IntentFacts } from "#lib/mandates/policy/facts.ts";
import { addHold } from "#lib/mandates/usage.ts";
import { bucketAt, type Bucket } from "#lib/mandates/policy/windows.ts";
import { add, type Atomic } from "#lib/money.ts";
import type { Question } from "#lib/payments/batch/ask-person.ts";
import type { NewAuthorization } from "#lib/payments/batch/decide.ts";
import { payingSubjectOf } from "#lib/payments/queue-item.ts";
import type { Budget } from "#lib/payments/batch/facts.ts";

export type Hold = {
  readonly amount: Atomic;
  readonly approvalKey: string | null;
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
  return { amount: add(asked.amount, asked.fee.buyerShare), approvalKey, buckets };
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
