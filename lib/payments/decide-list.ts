import type { NewCheckout } from "#lib/commerce/checkout-rows.ts";
import { feeOn, presentFeeQuote, type Fee } from "#lib/billing/fees.ts";
import { newId } from "#lib/ids.ts";
import { highestAsked } from "#lib/mandates/assurance.ts";
import type { Decision, IntentFacts } from "#lib/mandates/facts.ts";
import { decide } from "#lib/mandates/policy.ts";
import type { AssetOnChain } from "#lib/onchain/chains.ts";
import { readAmount, zero, type Atomic } from "#lib/money.ts";
import { agentLive, askPerson, assuranceReached, withLink, withoutOwnHold } from "#lib/payments/ask-person.ts";
import type { RegisteredResource, RegisteredSeller } from "#lib/payments/compare-intent.ts";
import { findMismatches } from "#lib/payments/find-mismatches.ts";
import type { PaymentIntent } from "#lib/payments/intent.ts";
import { refusal, subjectOf, type Also, type Answer, type Extra, type Item } from "#lib/payments/item.ts";
import type { Budget, ListFacts } from "#lib/payments/list-facts.ts";
import { presentIntent, settlementModeOf, type Terms } from "#lib/payments/present-intent.ts";
import { writeAnswer } from "#lib/payments/stored-answer.ts";
import { judgeOffer, namedSeller, unregisteredPayee, type Offer } from "#lib/payments/unregistered.ts";
import { book, holdFor, type Hold } from "#lib/payments/take-hold.ts";
import { invalidField, isProblem, notFound, Problem } from "#lib/problem.ts";
import { earliest, minutes } from "#lib/time.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

/** What the installation's configuration adds to the facts. */
export type ListTerms = {
  readonly assetOf: (chain: string, asset: string) => AssetOnChain | null;
  readonly onlyChain: string | null;
  /** Where a person is asked. */
  readonly checkoutUrl: (checkoutIntentId: string) => string;
  readonly keyReused: () => Problem;
  readonly readOffer: (challenge: unknown) => Offer | null;
  /** Told about a bug that cost one item its answer. */
  readonly onBug: (item: Item, error: unknown) => void;
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
  /** Null where it is the agent's word alone. */
  readonly payTo: string | null;
  readonly maxTimeoutSeconds: number;
  readonly feeScheduleId: string;
  readonly hold: Hold | null;
  /** Opened with this authorization. */
  readonly checkout: NewCheckout | null;
  /** Where a person is asked: its own checkout, or the one that is open for the same payment. */
  readonly checkoutIntentId: string | null;
  readonly expiresAt: Date;
  readonly createdAt: Date;
  /** In JSON. */
  readonly reasons: string;
  readonly body: string;
};

const INTENT_AHEAD_MS = minutes(24 * 60);
const AUTHORIZATION_MS = minutes(15);
/** As long as the checkout in which a person is asked. */
const CHECKOUT_MS = minutes(30);
const DEFAULT_TIMEOUT_SECONDS = 60;

/** What items bring besides their authorizations, each with its item. */
export type ItemExtra = Extra & { readonly item: Item };

type Outcome = { readonly answers: Answer[]; readonly rows: Decided[]; readonly extras: ItemExtra[] };

/** Decides a list in order of arrival; each decision sees the holds of those before it. Pure but for the ids it makes. */
export function decideList(items: readonly Item[], facts: ListFacts, terms: ListTerms): Outcome {
  const rows: Decided[] = [];
  const extras: ItemExtra[] = [];
  const answers = items.map((item): Answer => {
    const early = answerBeforeDeciding(item, facts, terms);
    if (early) return early;
    const budget = facts.budgets.get(item.mandateId);
    if (!budget || budget.organizationId !== item.organizationId) return refusal(notFound("mandate"));
    try {
      if ("unreadable" in budget) throw budget.unreadable;
      const { row, extra } = item.also
        ? decideMore(item, item.also, budget, facts, terms)
        : { row: decideItem(item, judge(item, budget, facts, terms), budget, facts, terms), extra: null };
      if (row) {
        book(row, budget, facts.now);
        rows.push(row);
      }
      if (extra) extras.push({ ...extra, item });
      return { kind: "reply", status: extra?.status ?? 200, body: extra?.body ?? row?.body ?? "", replayed: false };
    } catch (error) {
      if (isProblem(error)) return refusal(error);
      terms.onBug(item, error);
      return refusal(new Problem("internal_error", { detail: "Something went wrong on our side. Nothing was authorized." }));
    }
  });
  return { answers, rows, extras };
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
  if (!may) {
    const needed = item.also?.capability ?? "payments:authorize";
    return refusal(new Problem("capability_required", { detail: `This needs the capability ${needed}.` }));
  }
  // What keeps no reply of its own has at most its authorization under its slot.
  const keyed = item.also?.keyed ?? false;
  const old = keyed ? facts.replies.get(item.slot) : facts.stored.get(item.slot);
  if (!old) return null;
  if (old.fingerprint !== item.fingerprint) return refusal(terms.keyReused());
  return { kind: "reply", status: old.status, body: old.body, replayed: true };
}

/** The chain that is meant, and the amount in its asset's smallest unit. */
function readTerms(item: Item, resource: RegisteredResource | null, now: Date, terms: ListTerms): Terms {
  const { intent } = item;
  const chain = intent.chain ?? resource?.paymentConfig.chain ?? terms.onlyChain;
  if (chain === null) throw invalidField("/intent/chain", "Name the chain: this installation has more than one.");
  const asset = terms.assetOf(chain, intent.asset);
  if (asset === null) throw invalidField("/intent/asset", `${intent.asset} on ${chain} is not configured here.`);
  const digits = asset.tokenDecimals;
  const amount = readAmount(intent.amount, digits);
  if (!amount.ok) throw invalidField("/intent/amount", amount.detail);
  if (amount.amount === zero) throw invalidField("/intent/amount", "A payment is larger than zero.");
  const expiresAt = new Date(intent.expiresAt);
  if (expiresAt.getTime() > now.getTime() + INTENT_AHEAD_MS)
    throw invalidField("/intent/expiresAt", "An intent expires within 24 hours.");
  return { chain, asset, digits, amount: amount.amount, expiresAt };
}

/** What the policy says of an item, and what it was told. */
function judge(item: Item, budget: Budget, facts: ListFacts, terms: ListTerms) {
  const { intent } = item;
  const { now } = facts;
  const offer = facts.offers.get(item) ?? null;
  const sellerId = namedSeller(intent) ?? facts.atDomains.get(offer?.domain ?? "") ?? null;
  const seller = sellerId === null ? null : (facts.sellers.get(sellerId) ?? null);
  const resource =
    seller && intent.resource ? (facts.resources.get(`${seller.sellerId} ${intent.resource.resourceId}`) ?? null) : null;
  const read = readTerms(item, resource, now, terms);
  const offered = sellerId === null ? judgeOffer(intent, offer, read.amount, read.asset) : null;
  const mismatches = findMismatches(item, { seller, resource, offered }, read, terms.readOffer);
  const parties = { seller, resource, offered, mismatches };
  const quoted = quote(item, seller, resource, read, facts);
  const asked = intentFacts(item, budget, parties, read, quoted.fee, facts);
  const decision = decide(budget.facts, budget.usage, asked, now);
  const assuranceAsked = highestAsked(
    [budget.facts.policy, asked.seller, asked.resource].map((one) => one?.minimumAssuranceLevel),
  );
  return { ...parties, read, quoted, asked, decision, assuranceAsked };
}
type Judged = ReturnType<typeof judge>;

/** An item that brings more: its own decision first, then the policy's, then what is written with it. */
function decideMore(item: Item, also: Also, budget: Budget, facts: ListFacts, terms: ListTerms) {
  const { now } = facts;
  const { validUntil } = budget.facts.policy;
  const locked = facts.checkouts.get(also.checkoutIntentId ?? "") ?? null;
  const instead = also.before(locked, now);
  if (instead) return { row: null, extra: instead };
  if (also.takesOver && locked) {
    const { decision, assuranceAsked } = judge(item, withoutOwnHold(budget, locked), facts, terms);
    const authorizationId = locked["authorization_id"] as string;
    const expiresAt = locked["held_expires_at"] as Date;
    const decided = { decision, assuranceAsked, authorizationId, expiresAt, validUntil, body: null, checkoutIntentId: null };
    return { row: null, extra: also.after(decided, locked, now) };
  }
  const judged = judge(item, budget, facts, terms);
  const row = decideItem(item, judged, budget, facts, terms);
  return { row, extra: also.after({ ...row, validUntil, assuranceAsked: judged.assuranceAsked }, locked, now) };
}

const lifeOf = { allow: AUTHORIZATION_MS, requireApproval: CHECKOUT_MS, deny: 0 } as const;

function decideItem(item: Item, judged: Judged, budget: Budget, facts: ListFacts, terms: ListTerms): Decided {
  const { intent } = item;
  const { now } = facts;
  const { seller, resource, offered, read, quoted, asked } = judged;
  const { outcome } = judged.decision;
  const { validUntil } = budget.facts.policy;
  const life = new Date(now.getTime() + lifeOf[outcome]);
  const expiresAt = outcome === "deny" ? now : earliest(read.expiresAt, life, ...(validUntil ? [validUntil] : []));
  const presented = presentIntent({ item, seller, resource, offered, terms: read, feeQuote: quoted.feeQuote, createdAt: now });
  const { tokenAddress } = read.asset;
  const payment = {
    item,
    seller,
    resource,
    amount: read.amount,
    digits: read.digits,
    intent: presented,
    tokenAddress,
    expiresAt,
  };
  const question = outcome === "requireApproval" ? askPerson(payment, budget, now) : null;
  const link = question?.checkoutIntentId ? terms.checkoutUrl(question.checkoutIntentId) : null;
  const decision = withLink(judged.decision, link);
  const hold = holdFor(decision, question, budget, asked, now);
  const authorizationId = newId("authorization");
  const policyDecisionId = newId("policyDecision");
  const reasons = JSON.stringify(decision.reasons);
  const answered = {
    authorizationId,
    policyDecisionId,
    mandateId: item.mandateId,
    intentId: intent.intentId,
    outcome: decision.outcome,
    denialCode: decision.denialCode ?? null,
    reservationId: hold?.reservationId ?? null,
    createdAt: now,
    expiresAt,
  };
  return {
    item,
    authorizationId,
    policyDecisionId,
    policyVersion: budget.facts.version,
    decision,
    intent: presented,
    amount: read.amount,
    fee: quoted.fee,
    seller,
    resource,
    payTo: resource?.paymentConfig.payTo ?? (offered?.accepted ? asked.payTo : null),
    maxTimeoutSeconds: resource?.paymentConfig.maxTimeoutSeconds ?? offered?.maxTimeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    feeScheduleId: quoted.feeQuote.feeScheduleId,
    hold,
    checkout: question?.checkout ? { ...question.checkout, authorizationId } : null,
    checkoutIntentId: question?.checkoutIntentId ?? null,
    expiresAt,
    createdAt: now,
    reasons,
    body: writeAnswer(answered, reasons),
  };
}

type Parties = Pick<Judged, "seller" | "resource" | "offered" | "mismatches">;

function intentFacts(
  item: Item,
  budget: Budget,
  { seller, resource, offered, mismatches }: Parties,
  read: Terms,
  fee: Fee,
  facts: ListFacts,
): IntentFacts {
  const { intent, asker, also } = item;
  const isAgent = asker.kind === "key" || (also?.agentId ?? null) !== null;
  return {
    agent: { subjectId: subjectOf(item), type: isAgent ? "serviceAccount" : "user", active: agentLive(item, facts) },
    seller: seller && { ...seller, minimumAssuranceLevel: seller.minimumAssuranceLevel as AssuranceLevel },
    unregistered: offered && offered.facts,
    resource: resource && { ...resource, minimumAssuranceLevel: resource.minimumAssuranceLevel as AssuranceLevel },
    mismatches,
    amount: read.amount,
    fee: { serviceFee: fee.serviceFee, buyerShare: fee.buyerShare },
    asset: intent.asset,
    chain: read.chain,
    payTo: resource?.paymentConfig.payTo ?? intent.payTo ?? null,
    paymentChallengeType: intent.paymentChallengeType,
    expiresAt: read.expiresAt,
    assuranceLevel: assuranceReached(item, facts),
    approvedByPerson: also?.approvedByPerson ?? false,
    rejectedByPerson: also?.rejectedByPerson ?? false,
    sellerPaidBefore: budget.paidSellers.has(seller?.sellerId ?? unregisteredPayee(offered?.facts.domain, intent.payTo) ?? ""),
    duplicateIntentId: !(also?.takesOver ?? false) && budget.intentIds.has(intent.intentId),
    duplicateNonce: !(also?.takesOver ?? false) && budget.nonces.has(intent.nonce),
  };
}

function quote(item: Item, seller: RegisteredSeller | null, resource: RegisteredResource | null, read: Terms, facts: ListFacts) {
  const payment = {
    buyerOrganizationId: item.organizationId,
    sellerOrganizationId: seller?.organizationId ?? null,
    settlementMode: settlementModeOf(item.intent, resource),
    chain: read.chain,
    asset: item.intent.asset,
  } as const;
  const onPayment = feeOn(facts.feeBasis, payment, read.amount, read.digits, facts.now);
  const expiresAt = new Date(facts.now.getTime() + AUTHORIZATION_MS);
  const feeQuote = presentFeeQuote({ ...onPayment, feeQuoteId: newId("feeQuote"), createdAt: facts.now, expiresAt });
  return { fee: onPayment.fee, feeQuote };
}
