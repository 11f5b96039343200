import { feeOn, presentFeeQuote, type Fee } from "#lib/billing/fees.ts";
import { newId } from "#lib/ids.ts";
import type { Decision, IntentFacts } from "#lib/mandates/facts.ts";
import { decide } from "#lib/mandates/policy.ts";
import { bucketAt, type Bucket } from "#lib/mandates/windows.ts";
import { add, readAmount, zero, type Atomic } from "#lib/money.ts";
import { compareIntent, type RegisteredResource, type RegisteredSeller } from "#lib/payments/compare-intent.ts";
import type { Authorization, PaymentIntent } from "#lib/payments/intent.ts";
import { refusal, type Answer, type Item } from "#lib/payments/item.ts";
import type { Budget, ListFacts } from "#lib/payments/list-facts.ts";
import { presentIntent, type Terms } from "#lib/payments/present-intent.ts";
import { invalidField, isProblem, notFound, Problem } from "#lib/problem.ts";
import { earliest, minutes } from "#lib/time.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

/** What the installation's configuration adds to the facts. */
export type ListTerms = {
  readonly digitsOf: (chain: string, asset: string) => number | null;
  readonly onlyChain: string | null;
  readonly serialize: (authorization: Authorization) => string;
  readonly keyReused: () => Problem;
  /** Told about a bug that cost one item its answer. */
  readonly onBug: (item: Item, error: unknown) => void;
};

type Hold = {
  readonly reservationId: string;
  readonly amount: Atomic;
  readonly approvalKey: string | null;
  readonly buckets: readonly (Bucket & { readonly ceiling: string | null })[];
};

/** One authorization as it will be written. */
export type Decided = {
  readonly item: Item;
  readonly authorizationId: string;
  readonly policyDecisionId: string;
  readonly policyVersion: number;
  readonly decision: Decision;
  readonly intent: PaymentIntent;
  readonly amount: Atomic;
  readonly fee: Fee;
  readonly seller: RegisteredSeller | null;
  readonly resource: RegisteredResource | null;
  readonly feeScheduleId: string;
  readonly hold: Hold | null;
  readonly expiresAt: Date;
  readonly createdAt: Date;
  readonly body: string;
};

const INTENT_AHEAD_MS = minutes(24 * 60);
const AUTHORIZATION_MS = minutes(15);
const DEFAULT_TIMEOUT_SECONDS = 60;

/** Decides a list in order of arrival; each decision sees the holds of those before it. Pure but for the ids it makes. */
export function decideList(items: readonly Item[], facts: ListFacts, terms: ListTerms): { answers: Answer[]; rows: Decided[] } {
  const rows: Decided[] = [];
  const answers = items.map((item): Answer => {
    const early = answerBeforeDeciding(item, facts, terms);
    if (early) return early;
    const budget = facts.budgets.get(item.mandateId);
    if (!budget || budget.organizationId !== item.organizationId) return refusal(notFound("mandate"));
    try {
      if ("unreadable" in budget) throw budget.unreadable;
      const row = decideItem(item, budget, facts, terms);
      book(row, budget, facts.now);
      rows.push(row);
      return { kind: "reply", status: 200, body: row.body, replayed: false };
    } catch (error) {
      if (isProblem(error)) return refusal(error);
      terms.onBug(item, error);
      return refusal(new Problem("internal_error", { detail: "Something went wrong on our side. Nothing was authorized." }));
    }
  });
  return { answers, rows };
}

/** Credentials are judged before a replay is handed out, a replay before anything that changes with time. */
function answerBeforeDeciding(item: Item, facts: ListFacts, terms: ListTerms): Answer | null {
  const may = facts.mayAuthorize(item);
  if (may === null) {
    return refusal(
      item.asker.kind === "key"
        ? new Problem("api_key_invalid", { detail: "This API key is not valid." })
        : new Problem("session_expired", { detail: "Your session has ended. Sign in again." }),
    );
  }
  if (!may) return refusal(new Problem("capability_required", { detail: "This needs the capability payments:authorize." }));
  const old = facts.stored.get(item.slot);
  if (!old) return null;
  if (old["fingerprint"] !== item.fingerprint) return refusal(terms.keyReused());
  return { kind: "reply", status: 200, body: old["answer"] as string, replayed: true };
}

/** The chain that is meant, and the amount in its asset's smallest unit. */
function readTerms(item: Item, resource: RegisteredResource | null, now: Date, terms: ListTerms): Terms {
  const { intent } = item;
  const chain = intent.chain ?? resource?.paymentConfig.chain ?? terms.onlyChain;
  if (chain === null) throw invalidField("/intent/chain", "Name the chain: this installation has more than one.");
  const digits = terms.digitsOf(chain, intent.asset);
  if (digits === null) throw invalidField("/intent/asset", `${intent.asset} on ${chain} is not configured here.`);
  const amount = readAmount(intent.amount, digits);
  if (!amount.ok) throw invalidField("/intent/amount", amount.detail);
  if (amount.amount === zero) throw invalidField("/intent/amount", "A payment is larger than zero.");
  const expiresAt = new Date(intent.expiresAt);
  if (expiresAt.getTime() > now.getTime() + INTENT_AHEAD_MS)
    throw invalidField("/intent/expiresAt", "An intent expires within 24 hours.");
  return { chain, digits, amount: amount.amount, expiresAt };
}

function decideItem(item: Item, budget: Budget, facts: ListFacts, terms: ListTerms): Decided {
  const { intent } = item;
  const { now } = facts;
  const sellerId = intent.seller.sellerId ?? intent.resource?.sellerId;
  const seller = sellerId === undefined ? null : (facts.sellers.get(sellerId) ?? null);
  const resource =
    seller && intent.resource ? (facts.resources.get(`${seller.sellerId} ${intent.resource.resourceId}`) ?? null) : null;
  const read = readTerms(item, resource, now, terms);
  const quoted = quote(item, seller, resource, read, facts);
  const asked = intentFacts(item, budget, seller, resource, read, quoted.fee);
  const decision = decide({ ...budget.facts, stoppedByEmergency: false }, budget.usage, asked, now);
  const hold = holdFor(decision, budget, asked, now);
  const { validUntil } = budget.facts.policy;
  const expiresAt =
    decision.outcome === "deny"
      ? now
      : earliest(read.expiresAt, new Date(now.getTime() + AUTHORIZATION_MS), ...(validUntil ? [validUntil] : []));
  const authorizationId = newId("authorization");
  const policyDecisionId = newId("policyDecision");
  const body = terms.serialize({
    authorizationId,
    policyDecision: {
      policyDecisionId,
      mandateId: item.mandateId,
      intentId: intent.intentId,
      outcome: decision.outcome,
      reasons: [...decision.reasons],
      ...(decision.denialCode !== undefined && { denialCode: decision.denialCode }),
      ...(hold && { reservationId: hold.reservationId }),
      createdAt: now.toISOString(),
    },
    expiresAt: expiresAt.toISOString(),
  });
  return {
    item,
    authorizationId,
    policyDecisionId,
    policyVersion: budget.facts.version,
    decision,
    intent: presentIntent({ item, seller, resource, terms: read, feeQuote: quoted.feeQuote, createdAt: now }),
    amount: read.amount,
    fee: quoted.fee,
    seller,
    resource,
    feeScheduleId: quoted.feeQuote.feeScheduleId,
    hold,
    expiresAt,
    createdAt: now,
    body,
  };
}

function intentFacts(
  item: Item,
  budget: Budget,
  seller: RegisteredSeller | null,
  resource: RegisteredResource | null,
  read: Terms,
  fee: Fee,
): IntentFacts {
  const { intent, asker } = item;
  return {
    agent: { subjectId: asker.subjectId, type: asker.kind === "key" ? "serviceAccount" : "user", active: true },
    seller: seller && { ...seller, minimumAssuranceLevel: seller.minimumAssuranceLevel as AssuranceLevel, status: "active" },
    resource: resource && { ...resource, minimumAssuranceLevel: resource.minimumAssuranceLevel as AssuranceLevel },
    mismatches: seller && resource ? compareIntent(intent, read.chain, read.amount, read.digits, seller, resource) : [],
    amount: read.amount,
    fee: { serviceFee: fee.serviceFee, buyerShare: fee.buyerShare },
    asset: intent.asset,
    chain: read.chain,
    payTo: resource?.paymentConfig.payTo ?? intent.payTo ?? null,
    paymentChallengeType: intent.paymentChallengeType,
    expiresAt: read.expiresAt,
    assuranceLevel: "softwareApproved",
    sellerPaidBefore: seller !== null && budget.paidSellers.has(seller.sellerId),
    duplicateIntentId: budget.intentIds.has(intent.intentId),
    duplicateNonce: budget.nonces.has(intent.nonce),
  };
}

function quote(item: Item, seller: RegisteredSeller | null, resource: RegisteredResource | null, read: Terms, facts: ListFacts) {
  const payment = {
    buyerOrganizationId: item.organizationId,
    sellerOrganizationId: seller?.organizationId ?? null,
    settlementMode: resource?.paymentConfig.settlementMode ?? "offchainAuthorized",
    chain: read.chain,
    asset: item.intent.asset,
  } as const;
  const onPayment = feeOn(facts.feeBasis, payment, read.amount, read.digits, facts.now);
  const expiresAt = new Date(facts.now.getTime() + AUTHORIZATION_MS);
  const feeQuote = presentFeeQuote({ ...onPayment, feeQuoteId: newId("feeQuote"), createdAt: facts.now, expiresAt });
  return { fee: onPayment.fee, feeQuote };
}

/** allow holds; requireApproval holds softly, unless the same approval is open and holds already. */
function holdFor(decision: Decision, budget: Budget, asked: IntentFacts, now: Date): Hold | null {
  if (decision.outcome === "deny") return null;
  const approvalKey =
    decision.outcome === "allow" ? null : `${asked.resource?.sellerId} ${asked.resource?.resourceId} ${asked.amount}`;
  if (approvalKey !== null && budget.openApprovals.has(approvalKey)) return null;
  const buckets = budget.facts.policy.windows.map((window) => ({
    ...bucketAt(window, now),
    ceiling: window.limit?.toString() ?? null,
  }));
  return { reservationId: newId("reservation"), amount: add(asked.amount, asked.fee.buyerShare), approvalKey, buckets };
}

/** The next decision under this mandate sees what this one took. */
function book({ item, decision, hold }: Decided, budget: Budget, now: Date): void {
  if (decision.outcome === "deny") return;
  budget.intentIds.add(item.intent.intentId);
  budget.nonces.add(item.intent.nonce);
  if (!hold) return;
  budget.usage.reserved = add(budget.usage.reserved, hold.amount);
  budget.usage.lastHeldAt = now;
  if (hold.approvalKey !== null) budget.openApprovals.add(hold.approvalKey);
  for (const { windowKey, start, liveUntil } of hold.buckets) {
    let window = budget.buckets.get(windowKey);
    if (!window) budget.buckets.set(windowKey, (window = []));
    let bucket = window.find((usage) => usage.start.getTime() === start.getTime());
    if (!bucket) window.push((bucket = { start, liveUntil, spent: zero, reserved: zero, payments: 0 }));
    bucket.reserved = add(bucket.reserved, hold.amount);
    bucket.payments += 1;
  }
}

export const timeoutOf = (resource: RegisteredResource | null): number =>
  resource?.paymentConfig.maxTimeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
