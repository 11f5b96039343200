import type { WaiverTerms } from "#lib/approvals/decision/waiver.ts";
import { waiverOf } from "#lib/approvals/decision/waiver-store.ts";
import { configuredDecimals, tokenOf } from "#lib/chains/chains.ts";
import type { Tx } from "#lib/db/client.ts";
import { policyDecisionIdOf } from "#lib/holds/ids.ts";
import { verifiedAmong } from "#lib/holds/open-payment-store.ts";
import { pastFacts, wantedOf } from "#lib/holds/past-facts.ts";
import { findDecision, firstPayments, type PastDecision } from "#lib/holds/past-payment-store.ts";
import { reasonsOf } from "#lib/holds/render-answer.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import { denials, isDenial } from "#lib/mandates/policy/denials.ts";
import type { Decision, IntentFacts, MandateFacts, Reason, Usage } from "#lib/mandates/policy/facts.ts";
import { fixDenial, type Fix, type Terms } from "#lib/mandates/draft/fix-denial.ts";
import { fixWords } from "#lib/mandates/draft/fix-words.ts";
import { decide } from "#lib/mandates/policy/policy.ts";
import { isWaivable } from "#lib/mandates/policy/waive.ts";
import { add } from "#lib/money.ts";
import { isOnChain } from "#lib/onchain/registry/registration-store.ts";
import { basketOfPayment } from "#lib/payments/open-checkout.ts";
import type { MandateRow } from "#lib/mandates/present-mandate.ts";
import { findMandate, liveBuckets, type Scope } from "#lib/mandates/store.ts";
import { selectPaid } from "#lib/mandates/paid-store.ts";
import { unregisteredPayee } from "#lib/payments/unregistered-offer.ts";
import { looksLike } from "#lib/payments/refusals/look-alike.ts";
import { seenBefore } from "#lib/sellers/seen-offer-store.ts";
import { payeeStop } from "#lib/sellers/stop-store.ts";
import { minutes } from "#lib/time.ts";
import type { Outcome } from "#lib/vocabulary.ts";

export type FoundFix = {
  readonly mandate: MandateRow;
  readonly past: PastDecision;
  readonly policyDecisionId: string;
  /** Null if the current mandate would not deny the same payment again. */
  readonly fix: Fix | null;
  /** The outcome of the same payment now, under the mandate with the fix if there is one. */
  readonly outcome: Exclude<Outcome, "deny">;
  /** Null if the payment need not or cannot be waived, or if a person has already allowed it. */
  readonly waivable: WaiverTerms | null;
};

type Place = { readonly mandateId: string; readonly authorizationId: string };

const REQUEST_MS = minutes(10);

/** These denials depend only on the mandate's status and agents, which findFix reads again. */
const readAgain: ReadonlySet<string> = new Set(["mandate_not_active", "mandate_suspended", "mandate_revoked", "agent_not_bound"]);

/** Whether no change of the mandate can prevent this denial, or the service must not suggest such a change. */
const isFinal = ({ code, effect }: Reason): boolean =>
  effect === "deny" &&
  isDenial(code) &&
  ((denials[code].beyondPolicy === true && !readAgain.has(code)) || code === "emergency_stop" || code === "assurance_too_low");

/**
 * The smallest change with which the payment would not be denied now. Never suggested: to overrule an emergency stop or a deny
 * list, to accept another challenge than registered, or to allow a payee that is not verified or imitates another.
 */
export async function findFix(tx: Tx, scope: Scope, { mandateId, authorizationId }: Place, now: Date): Promise<FoundFix | null> {
  const mandate = await findMandate(tx, scope, mandateId);
  const past = mandate && (await findDecision(tx, mandateId, authorizationId));
  if (!past || past.outcome !== "deny" || mandate.status !== "active" || reasonsOf(past).some(isFinal)) return null;
  if (await imitates(tx, scope, past)) return null;
  const intent = await factsNow(tx, mandate, past, now);
  const usage = await usageNow(tx, mandate, now);
  const decided = (terms: Terms): Decision => decide(mandateFacts(mandate, terms), usage, intent, now);
  const policyDecisionId = policyDecisionIdOf(past);
  const decision = decided(mandate);
  const { outcome, reasons } = decision;
  if (outcome !== "deny") return { mandate, past, policyDecisionId, fix: null, outcome, waivable: null };
  const fix = fixDenial({ terms: mandate, decimals: decimalsOf(mandate), intent, reasons, now });
  const fixed = fix && decided(fix).outcome;
  if (!fix || fixed === null || fixed === "deny") return null;
  const terms = intent.seller?.verified === true && isWaivable(decision) ? waiverTerms(mandate, past) : null;
  const isOffered = terms && !(await isOnChain(tx, mandate)) && !(await waiverOf(tx, authorizationId));
  return { mandate, past, policyDecisionId, fix, outcome: fixed, waivable: isOffered ? terms : null };
}

/** Null if the decision was about an order, whose basket is not stored with the decision, or had no address to pay. */
function waiverTerms(mandate: MandateRow, past: PastDecision): WaiverTerms | null {
  const { sellerId, resourceId, payTo, intent, subjectId } = past;
  if (past.ofPurchase || payTo === null) return null;
  const payee = { sellerId, resourceId, domain: intent.seller.domain ?? "" };
  return {
    mandateId: mandate.mandateId,
    policyVersion: mandate.version,
    subjectId,
    basketHash: basketOfPayment({ ...payee, intent, tokenDecimals: decimalsOf(past) }).hash,
    charged: add(past.amount, past.buyerShare),
    payTo,
  };
}

/** The link does not contain the change, so the page computes it again for the person who opens it. */
export const fixLink = ({ mandate: { mandateId, asset }, policyDecisionId, fix, waivable }: FoundFix) =>
  fix && {
    href: `/mandates/${mandateId}/edit?fix=${policyDecisionId}`,
    label: fixWords(fix.changes, asset),
    ...(waivable && { mayAllowOnce: true as const }),
  };

const mandateFacts = (mandate: MandateRow, { policy, agents }: Terms): MandateFacts => ({
  mandateId: mandate.mandateId,
  status: "active",
  version: mandate.version,
  policy: compilePolicy(policy, decimalsOf(mandate)),
  agents,
});

async function factsNow(tx: Tx, { mandateId, policy }: MandateRow, past: PastDecision, now: Date): Promise<IntentFacts> {
  const { sellerId, payTo, intent } = past;
  const domain = intent.seller.domain ?? null;
  const verified = await verifiedAmong(tx, sellerId === null ? [] : [sellerId]);
  const [domainSeen = false] = policy.domains?.allow === undefined ? [] : await seenBefore(tx, [wantedOf(past, tokenOf)]);
  const payee = sellerId ?? unregisteredPayee(domain ?? undefined, payTo);
  const paidBefore = payee !== null && (await firstPayments(tx, mandateId)).has(payee);
  const facts = pastFacts(past, { verified: verified.has(sellerId ?? ""), domainSeen, paidBefore }, configuredDecimals);
  const stop = await payeeStop(tx, { sellerId, domain, payTo: facts.payTo });
  return { ...facts, payeeStop: stop, expiresAt: new Date(now.getTime() + REQUEST_MS) };
}

async function usageNow(tx: Tx, { mandateId, spent, reserved, lastHeldAt }: MandateRow, now: Date): Promise<Usage> {
  const buckets: Usage["buckets"] = Map.groupBy(await liveBuckets(tx, [mandateId], now), ({ windowKey }) => windowKey);
  return { spent, reserved, lastHeldAt, buckets };
}

/** Whether the domain looks like the domain of another payee, which the organization paid before this payee. */
async function imitates(tx: Tx, scope: Scope, { sellerId, payTo, intent }: PastDecision): Promise<boolean> {
  const { domain } = intent.seller;
  if (domain === undefined) return false;
  const paid = await selectPaid(tx, scope);
  const own = paid.find(({ name }) => name === (sellerId ?? unregisteredPayee(domain, payTo)));
  return paid.some((other) => looksLike(domain, other.domain) && !(own && own.since <= other.since));
}
