import { chargeOf, takenBy } from "#lib/mandates/policy/compile-policy.ts";
import { feeOn, type Fee } from "#lib/billing/fees.ts";
import { highestAsked } from "#lib/mandates/policy/assurance.ts";
import type { CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { CardMerchant, Decision, IntentFacts } from "#lib/mandates/policy/facts.ts";
import { decide, mayAsk, mayClear, mayWaive } from "#lib/mandates/policy/policy.ts";
import { clearanceHash, fitsClearance } from "#lib/approvals/decision/waiver.ts";
import { usesWaiver } from "#lib/mandates/policy/waive.ts";
import type { AssetOnChain } from "#lib/chains/chains.ts";
import { chainOfUnit, isStorable, readAmount, UNIT_DECIMALS, zero } from "#lib/money.ts";
import { recordFacts } from "#lib/payments/batch/made-elsewhere.ts";
import { agentLive, assuranceReached, basketAsked, questionOf, type AskingTerms } from "#lib/payments/batch/ask-person.ts";
import type { RegisteredResource, RegisteredSeller } from "#lib/payments/offers/compare-intent.ts";
import type { OpenWaiver } from "#lib/payments/batch/read.ts";
import { findMismatches } from "#lib/payments/offers/find-mismatches.ts";
import { hasHold, isApproved, payingSubjectOf, type Item } from "#lib/payments/queue-item.ts";
import type { Budget, BatchFacts } from "#lib/payments/batch/facts.ts";
import { keyOf, probeFor, onlyUnproven, type OfferProbe, type DueProbe } from "#lib/payments/offers/required-probe.ts";
import { settlementModeOf, type Terms } from "#lib/payments/offers/present-intent.ts";
import { judgeOffer, namedSeller, unregisteredPayee, type Offer } from "#lib/payments/unregistered-offer.ts";
import { stopOf, type PayeeStop } from "#lib/sellers/stops.ts";
import { invalidField, type Problem } from "#lib/problem.ts";
import { has402 } from "#lib/payment-intent.ts";
import { minutes } from "#lib/time.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

export type BatchTerms = {
  /** The links and calls of a checkout. Null in a simulation, which opens no checkout. */
  readonly asking: AskingTerms | null;
  readonly assetOf: (chain: string, asset: string) => AssetOnChain | null;
  /** The smallest amount that this service settles, if this one is smaller. */
  readonly leastIfSmaller: (amount: bigint, asset: AssetOnChain) => string | null;
  readonly onlyChain: string | null;
  readonly keyReused: () => Problem;
  readonly readOffer: (challenge: unknown) => Offer | null;
  readonly onBug: (item: Item, error: unknown) => void;
};

const INTENT_AHEAD_MS = minutes(24 * 60);
export const AUTHORIZATION_MS = minutes(15);

function readTerms(item: Item, resource: RegisteredResource | null, now: Date, terms: BatchTerms): Terms {
  const { intent } = item;
  const chain = intent.chain ?? resource?.paymentConfig.chain ?? terms.onlyChain;
  if (chain === null) throw invalidField("/intent/chain", "Name the chain: this installation has more than one.");
  const asset = has402(intent) ? terms.assetOf(chain, intent.asset) : currencyOf(chain, intent.asset);
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

/** A currency has no token. Null for another chain. */
const currencyOf = (chain: string, asset: string): AssetOnChain | null =>
  chain === chainOfUnit(asset)
    ? { chain, chainId: 0, asset, tokenAddress: "0x", tokenName: asset, tokenVersion: "", tokenDecimals: UNIT_DECIMALS }
    : null;

/** @throws Problem invalid_request */
function partiesOf(item: Item, facts: BatchFacts, terms: BatchTerms) {
  const { intent } = item;
  const offer = facts.offers.get(item) ?? null;
  const sellerId = namedSeller(intent) ?? facts.atDomains.get(offer?.domain ?? "") ?? null;
  const seller = sellerId === null ? null : (facts.sellers.get(sellerId) ?? null);
  const resource =
    seller && intent.resource ? (facts.resources.get(`${seller.sellerId} ${intent.resource.resourceId}`) ?? null) : null;
  const read = readTerms(item, resource, facts.now, terms);
  const offered = sellerId === null && has402(intent) ? judgeOffer(intent, offer, read.amount, read.asset) : null;
  return { seller, resource, read, offered };
}

const allowsDomains = ({ domains }: CompiledPolicy): boolean => (domains?.allow ?? null) !== null;

function probeOf(
  { intent }: Item,
  { facts: { policy } }: Budget,
  parties: ReturnType<typeof partiesOf>,
  terms: BatchTerms,
): OfferProbe | null {
  return allowsDomains(policy) && has402(intent) ? probeFor(policy, intent, parties, terms.readOffer(intent.challenge)) : null;
}

/** What a payment asks for, as far as no other payment of the batch can change it. @throws Problem invalid_request */
export function prepare(item: Item, budget: Budget, facts: BatchFacts, terms: BatchTerms) {
  const parties = partiesOf(item, facts, terms);
  const { seller, resource, offered, read } = parties;
  const probe = probeOf(item, budget, parties, terms);
  const mismatches = findMismatches(item, { seller, resource, offered }, read, terms.readOffer);
  const quoted = quote(item, seller, resource, read, facts);
  const least = weSettle(item, resource) ? terms.leastIfSmaller(read.amount, read.asset) : null;
  const asked: IntentFacts = {
    ...intentFacts(item, budget, { ...parties, mismatches }, quoted.fee, facts),
    ...(least !== null && { settledFrom: least }),
    ...recordFacts(item, facts),
  };
  const { policy } = budget.facts;
  if (policy.rates !== null && !isStorable(takenBy(policy, asked) ?? zero))
    throw invalidField("/intent/amount", "In the unit of the mandate the amount is larger than any budget.");
  const asks = mayAsk(budget.facts, budget.usage, asked, facts.now);
  const mayBeWaived = asked.card ? mayClear : mayWaive;
  const waivable =
    !item.purchase && (resource !== null || asked.card) && mayBeWaived(budget.facts, budget.usage, asked, facts.now);
  return { ...parties, probe, quoted, asked, waivable, question: asks ? questionOf(item, parties) : null };
}
export type Prepared = ReturnType<typeof prepare>;

export function judge(item: Item, budget: Budget, facts: BatchFacts, terms: BatchTerms) {
  const prepared = facts.prepared.get(item) ?? prepare(item, budget, facts, terms);
  const { probe } = prepared;
  const waiverId = waiverFor(item, prepared, budget, facts);
  const asked: IntentFacts = {
    ...prepared.asked,
    ...(probe && foundBy(probe, item, facts)),
    ...recordFacts(item, facts),
    waived: waiverId !== null || holdWasWaived(item, budget, facts),
    duplicateIntentId: !hasHold(item) && budget.intentIds.has(item.intent.intentId),
    duplicateNonce: !hasHold(item) && budget.nonces.has(item.intent.nonce),
  };
  const decision =
    asked.card && waiverId !== null ? decideCleared(budget, asked, facts) : decideAsking(item, budget, asked, facts);
  const assuranceAsked = highestAsked(
    [budget.facts.policy, asked.seller, asked.resource].map((one) => one?.minimumAssuranceLevel),
  );
  const dueProbe = probe !== null && !item.probeResult && onlyUnproven(decision) ? whereToProbe(probe) : null;
  return {
    ...prepared,
    asked,
    decision,
    assuranceAsked,
    dueProbe,
    waiverId: usesWaiver(decision) || (asked.card && decision.outcome === "allow") ? waiverId : null,
  };
}
/** A person cleared the same purchase before. */
const decideCleared = (budget: Budget, asked: IntentFacts, { now }: BatchFacts): Decision =>
  decide(budget.facts, budget.usage, { ...asked, approvedByPerson: true }, now);

/** A payment that would ask a person is refused if people lately declined the same one, or left its requests unanswered. */
function decideAsking(item: Item, budget: Budget, asked: IntentFacts, { remembered, now }: BatchFacts): Decision {
  const decision = decide(budget.facts, budget.usage, asked, now);
  const said = decision.outcome === "requireApproval" ? remembered.get(item) : undefined;
  if (!said) return decision;
  const told = said === "declined" ? { rejectedByPerson: true } : { unanswered: true };
  return decide(budget.facts, budget.usage, { ...asked, ...told }, now);
}

export type Judgement = ReturnType<typeof judge>;

const settledElsewhere: ReadonlySet<string> = new Set(["offchainAuthorized", "recorded"]);

const weSettle = ({ intent }: Item, resource: RegisteredResource | null): boolean =>
  !settledElsewhere.has(settlementModeOf(intent, resource)) && resource?.paymentConfig.facilitatorUrl === undefined;

const whereToProbe = (probe: OfferProbe): DueProbe | null => (probe.url === null ? null : { ...probe, url: probe.url });

function foundBy(probe: OfferProbe, { probeResult }: Item, { seen }: BatchFacts): Pick<IntentFacts, "domainSeen" | "domainLook"> {
  const key = keyOf(probe);
  if (probeResult?.key === key) return probeResult.seen ? { domainSeen: true } : { domainLook: probeResult.words };
  if (seen.has(key)) return { domainSeen: true };
  return probe.url === null ? { domainLook: "Without the seller's challenge we do not know where to ask its domain." } : {};
}

type Parties = ReturnType<typeof partiesOf> & Pick<IntentFacts, "mismatches">;

function intentFacts(
  item: Item,
  budget: Budget,
  { seller, resource, offered, mismatches, read }: Parties,
  fee: Fee,
  facts: BatchFacts,
): IntentFacts {
  const { intent, asker, purchase } = item;
  const isAgent = asker.kind !== "session" || purchase?.kind === "approval";
  return {
    agent: { subjectId: payingSubjectOf(item), type: isAgent ? "serviceAccount" : "user", active: agentLive(item, facts) },
    seller: seller && { ...seller, minimumAssuranceLevel: seller.minimumAssuranceLevel as AssuranceLevel },
    unregistered: offered && offered.facts,
    payeeStop: payeeStopOf({ seller, resource, offered }, intent.payTo, facts),
    resource: resource && { ...resource, minimumAssuranceLevel: resource.minimumAssuranceLevel as AssuranceLevel },
    mismatches,
    amount: read.amount,
    fee: { serviceFee: fee.serviceFee, buyerShare: fee.buyerShare },
    asset: intent.asset,
    chain: read.chain,
    decimals: read.digits,
    payTo: resource?.paymentConfig.payTo ?? intent.payTo ?? null,
    paymentChallengeType: intent.paymentChallengeType,
    ...(intent.card && { card: merchantOf(intent.card) }),
    expiresAt: read.expiresAt,
    assuranceLevel: assuranceReached(item, facts),
    approvedByPerson: isApproved(item),
    rejectedByPerson: purchase?.kind === "order" && purchase.rejectedByPerson,
    sellerPaidBefore: budget.paidSellers.has(seller?.sellerId ?? unregisteredPayee(offered?.facts.domain, intent.payTo) ?? ""),
    duplicateIntentId: false,
    duplicateNonce: false,
  };
}

const merchantOf = ({ category, country, merchant }: NonNullable<Item["intent"]["card"]>): CardMerchant => ({
  category,
  country: country ?? null,
  merchant,
});

/** Whether a person approves what was held with a waiver, which a changed mandate ends. */
const holdWasWaived = (item: Item, budget: Budget, { checkouts }: BatchFacts): boolean =>
  hasHold(item) && checkouts.get(item.purchase?.checkoutIntentId ?? "")?.waivedVersion === budget.facts.version;

/** The oldest waiver for this payment that no earlier payment of the batch has used. */
function waiverFor(item: Item, prepared: Prepared, { facts: { version } }: Budget, { waivers, usedWaivers }: BatchFacts) {
  const { waivable, asked } = prepared;
  const open = waivers.get(item.mandateId);
  if (!open || !waivable || item.isUnasked) return null;
  const { card } = item.intent;
  const hash = card ? clearanceHash(card.cardId, item.intent.asset, merchantOf(card)) : basketAsked(item, prepared).hash;
  const charged = chargeOf(asked);
  const fits = (one: OpenWaiver): boolean =>
    one.policyVersion === version &&
    one.subjectId === payingSubjectOf(item) &&
    one.basketHash === hash &&
    (card ? fitsClearance(one.charged, charged) : one.charged === charged && one.payTo === asked.payTo) &&
    !usedWaivers.has(one.waiverId);
  const ids = open.filter(fits).map(({ waiverId }) => waiverId);
  return ids.toSorted()[0] ?? null;
}

function payeeStopOf(
  { seller, resource, offered }: Pick<Parties, "seller" | "resource" | "offered">,
  payTo: string | undefined,
  { stoppedPayees }: BatchFacts,
): PayeeStop {
  if (seller) return stopOf({ ...seller, overAddress: resource?.overAddress ?? null });
  const payee = unregisteredPayee(offered?.facts.domain, payTo);
  return payee !== null && stoppedPayees.has(payee) ? "stopped" : null;
}

function quote(item: Item, seller: RegisteredSeller | null, resource: RegisteredResource | null, read: Terms, facts: BatchFacts) {
  const payment = {
    buyerOrganizationId: item.organizationId,
    sellerOrganizationId: seller?.organizationId ?? null,
    settlementMode: settlementModeOf(item.intent, resource),
    chain: read.chain,
    asset: item.intent.asset,
  } as const;
  // This service moves nothing, so it takes nothing.
  const basis = payment.settlementMode === "recorded" ? { ...facts.feeBasis, schedules: [] } : facts.feeBasis;
  return feeOn(basis, payment, read.amount, read.digits, facts.now);
}
