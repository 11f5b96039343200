import type { BucketUsage, Decision, IntentFacts, MandateFacts, Reason, ReasonCode, Usage } from "#lib/mandates/facts.ts";
import type { PastDecision } from "#lib/holds/past-payment-store.ts";
import { decide } from "#lib/mandates/policy.ts";
import { bucketAt } from "#lib/mandates/windows.ts";
import { add, atomicOf, zero } from "#lib/money.ts";
import { pastFacts } from "#lib/holds/past-facts.ts";
import { unregisteredPayee } from "#lib/payments/unregistered-offer.ts";
import { reasonsOf } from "#lib/holds/stored-answer.ts";
import { toWire } from "#lib/time.ts";
import type { Outcome } from "#lib/vocabulary.ts";

export type BacktestItem = {
  readonly policyDecisionId: string;
  readonly authorizationId: string;
  readonly domain?: string;
  /** Decimal text of `asset`, without fees. */
  readonly amount: string;
  readonly asset: string;
  readonly decidedAt: string;
  readonly was: Outcome;
  readonly wouldBe: Outcome;
  readonly reasons: readonly Reason[];
};

/** Usage before the first decision. Mutable: the replay adds to it. */
export type BacktestUsage = Omit<Usage, "buckets"> & { readonly buckets: Map<string, BucketUsage[]> };

/** Denials that no policy changes are repeated, because their facts were not stored. */
const beyondPolicy = new Set<ReasonCode>([
  "mandate_not_active",
  "mandate_suspended",
  "mandate_revoked",
  "agent_not_bound",
  "agent_inactive",
  "intent_invalid",
  "challenge_mismatch",
  "nonce_reused",
  "approval_rejected",
]);

/** The seller or resource requires more assurance; no policy changes that either. */
const askedByOthers = ({ rule, pointer }: Reason): boolean => rule === "minimumAssuranceLevel" && pointer === undefined;

const stays = (reason: Reason): boolean =>
  reason.effect === "deny"
    ? beyondPolicy.has(reason.code) || (reason.code === "assurance_too_low" && askedByOthers(reason))
    : reason.effect === "approval" && askedByOthers(reason);

/**
 * Decides past payments, oldest first, under another policy and with the budgets as that policy would have used them: a payment that it
 * denies uses nothing, and a hold that was released or expired uses nothing either. `seen` says for each payment whether the domain's
 * own 402 asked for it.
 */
export function backtest(
  mandate: MandateFacts,
  past: readonly PastDecision[],
  usage: BacktestUsage,
  firstPaid: ReadonlyMap<string, Date>,
  seen: readonly boolean[],
): BacktestItem[] {
  return past.map((one, at) => {
    const payee = one.sellerId ?? unregisteredPayee(one.intent.seller.domain, one.payTo);
    const paid = payee === null ? undefined : firstPaid.get(payee);
    const paidBefore = paid !== undefined && paid.getTime() < one.createdAt.getTime();
    const facts = pastFacts(one, { verified: one.intent.seller.verified ?? false, domainSeen: seen[at] ?? false, paidBefore });
    const decision = withStaying(decide(mandate, usage, facts, one.createdAt), reasonsOf(one));
    const letGo = one.holdStatus === "released" || one.holdStatus === "expired";
    if (decision.outcome !== "deny" && !letGo) book(mandate, usage, facts, one.createdAt);
    const { seller, amount, asset } = one.intent;
    return {
      policyDecisionId: one.policyDecisionId,
      authorizationId: one.authorizationId,
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

function withStaying(decision: Decision, reasons: readonly Reason[]): Decision {
  const staying = reasons.filter((one) => stays(one) && !decision.reasons.some(({ message }) => message === one.message));
  if (staying.some(({ effect }) => effect === "deny")) return { outcome: "deny", reasons: [...staying, ...decision.reasons] };
  const outcome = staying.length > 0 && decision.outcome === "allow" ? "requireApproval" : decision.outcome;
  return { ...decision, outcome, reasons: [...staying, ...decision.reasons] };
}

function book(mandate: MandateFacts, usage: BacktestUsage, { amount, fee }: IntentFacts, at: Date): void {
  const held = atomicOf(amount + fee.buyerShare);
  usage.reserved = add(usage.reserved, held);
  usage.lastHeldAt = at;
  for (const window of mandate.policy.windows) {
    const { start, liveUntil } = bucketAt(window, at);
    const buckets = usage.buckets.get(window.key) ?? [];
    usage.buckets.set(window.key, buckets);
    let bucket = buckets.find((one) => one.start.getTime() === start.getTime());
    if (bucket === undefined) buckets.push((bucket = { start, liveUntil, spent: zero, reserved: zero, payments: 0 }));
    bucket.reserved = add(bucket.reserved, held);
    bucket.payments += 1;
  }
}
