import { takenBy } from "#lib/mandates/policy/compile-policy.ts";
import { denials, isDenial } from "#lib/mandates/policy/denials.ts";
import type { Decision, MandateFacts, Reason, Usage } from "#lib/mandates/policy/facts.ts";
import type { PastDecision } from "#lib/holds/past-payment-store.ts";
import { decide } from "#lib/mandates/policy/policy.ts";
import { configuredDecimals } from "#lib/chains/chains.ts";
import { addHold } from "#lib/mandates/usage.ts";
import { bucketAt } from "#lib/mandates/policy/windows.ts";
import { zero } from "#lib/money.ts";
import { pastFacts } from "#lib/holds/past-facts.ts";
import { unregisteredPayee } from "#lib/payments/unregistered-offer.ts";
import { policyDecisionIdOf } from "#lib/holds/ids.ts";
import { reasonsOf } from "#lib/holds/render-answer.ts";
import { toWire } from "#lib/time.ts";
import type { Outcome } from "#lib/vocabulary.ts";

export type BacktestItem = {
  readonly policyDecisionId: string;
  readonly authorizationId: string;
  /** The subject that pays. The reply of simulateMandate does not contain it. */
  readonly subjectId: string;
  readonly domain?: string;
  /** The amount without fees, as decimal text in `asset`. */
  readonly amount: string;
  readonly asset: string;
  readonly decidedAt: string;
  readonly was: Outcome;
  readonly wouldBe: Outcome;
  readonly reasons: readonly Reason[];
};

/** Another policy of the buyer does not change what the seller or the resource requires. */
const askedByOthers = ({ rule, pointer }: Reason): boolean => rule === "minimumAssuranceLevel" && pointer === undefined;

const stays = (reason: Reason): boolean =>
  reason.effect === "deny"
    ? (isDenial(reason.code) && denials[reason.code].beyondPolicy) ||
      (reason.code === "assurance_too_low" && askedByOthers(reason))
    : reason.effect === "approval" && askedByOthers(reason);

/** Decides past payments again, with the budgets that this policy would have left. `past` begins with the oldest. */
export function backtest(
  mandate: MandateFacts,
  past: readonly PastDecision[],
  usage: Usage,
  firstPaid: ReadonlyMap<string, Date>,
  seen: readonly boolean[],
): BacktestItem[] {
  return past.map((one, at) => {
    const payee = one.sellerId ?? unregisteredPayee(one.intent.seller.domain, one.payTo);
    const paid = payee === null ? undefined : firstPaid.get(payee);
    const paidBefore = paid !== undefined && paid.getTime() < one.createdAt.getTime();
    const is = { verified: one.intent.seller.verified ?? false, domainSeen: seen[at] ?? false, paidBefore };
    const facts = pastFacts(one, is, configuredDecimals);
    const decision = withStaying(decide(mandate, usage, facts, one.createdAt), reasonsOf(one));
    const letGo = one.holdStatus === "released" || one.holdStatus === "expired";
    if (decision.outcome !== "deny" && !letGo) {
      const buckets = mandate.policy.windows.map((window) => bucketAt(window, one.createdAt));
      addHold(usage, takenBy(mandate.policy, facts) ?? zero, buckets, one.createdAt);
    }
    const { seller, amount, asset } = one.intent;
    return {
      policyDecisionId: policyDecisionIdOf(one),
      authorizationId: one.authorizationId,
      subjectId: one.subjectId,
      ...(seller.domain !== undefined && { domain: seller.domain }),
      amount,
      asset,
      decidedAt: toWire(one.createdAt),
      was: one.outcome as Outcome,
      wouldBe: decision.outcome,
      reasons: decision.reasons,
    };
  });
}

function withStaying(decision: Decision, reasons: readonly Reason[]): Omit<Decision, "findings"> {
  const staying = reasons.filter((one) => stays(one) && !decision.reasons.some(({ message }) => message === one.message));
  if (staying.some(({ effect }) => effect === "deny")) return { outcome: "deny", reasons: [...staying, ...decision.reasons] };
  const outcome = staying.length > 0 && decision.outcome === "allow" ? "requireApproval" : decision.outcome;
  return { ...decision, outcome, reasons: [...staying, ...decision.reasons] };
}
