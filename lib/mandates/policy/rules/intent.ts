import { chargeOf, coinKey, rateOf } from "#lib/mandates/policy/compile-policy.ts";
import { addReason, text, type Case } from "#lib/mandates/policy/rules/reason.ts";
import * as say from "#lib/mandates/policy/sentences/intent.ts";
import { referenceUsed } from "#lib/mandates/policy/sentences/record.ts";
import { formatAmount, type Atomic } from "#lib/money.ts";
import { toWire } from "#lib/time.ts";
import type { Rail } from "#lib/vocabulary.ts";

export function intentRules(on: Case): void {
  soundness(on);
  registration(on);
  uniqueness(on);
  coin(on);
  rail(on);
  protocol(on);
}

function soundness(on: Case): void {
  const { intent, now } = on;
  const { amount, fee, expiresAt, settledFrom } = intent;
  // An unreadable time counts as expired, because a comparison with NaN is false.
  if (expiresAt.getTime() > now.getTime()) addReason(on, say.intentValid, toWire(expiresAt));
  else addReason(on, say.intentExpired);
  if (amount <= 0n || fee.buyerShare < 0n) addReason(on, say.notPositive);
  if (settledFrom !== undefined) addReason(on, say.tooSmallToSettle, settledFrom);
}

function registration(on: Case): void {
  const { mismatches, seller, resource, unregistered } = on.intent;
  const differs = seller === null ? say.differsFromChallenge : say.differsFromRecord;
  for (const { field, pointer, theirs, registered } of mismatches) {
    if (theirs === undefined) addReason(on, differs, field, pointer);
    else addReason(on, say.challengeDiffers, field, pointer, theirs, registered ?? "");
  }
  if (mismatches.length === 0 && unregistered?.lacks.length === 0) addReason(on, say.asChallenged);
  if (mismatches.length === 0 && seller !== null && resource !== null) addReason(on, say.asRegistered);
}

function uniqueness(on: Case): void {
  const { duplicateIntentId, duplicateNonce, rejectedByPerson, unanswered } = on.intent;
  if (rejectedByPerson === true) addReason(on, say.declined);
  if (unanswered === true) addReason(on, say.unanswered);
  if (duplicateIntentId) addReason(on, say.intentIdUsed);
  if (duplicateNonce) addReason(on, say.nonceUsed);
  const { record } = on.intent;
  if (record?.before) addReason(on, referenceUsed, record.reference, record.before);
  if (!duplicateIntentId && !duplicateNonce) addReason(on, say.intentNew);
}

export function coin(on: Case): void {
  if (on.policy.rates !== null) return coinOfUnit(on, on.policy.rates);
  const { asset, chain } = on.policy;
  if (on.intent.asset === asset && on.intent.chain === chain) return addReason(on, say.paysIn, chain);
  if (on.intent.asset !== asset) addReason(on, say.otherAsset);
  if (on.intent.chain !== chain) addReason(on, say.otherChain, chain);
}

function coinOfUnit(on: Case, rates: ReadonlyMap<string, Atomic>): void {
  const { asset, chain, decimals } = on.intent;
  const coins = [...rates.keys()];
  const at = coins.indexOf(coinKey(asset, chain));
  const rate = rateOf(on.policy, on.intent);
  if (rate !== null && decimals !== null) {
    const [charge, one] = [formatAmount(chargeOf(on.intent), decimals), text(on, rate)];
    return addReason(on, say.countsAs, charge, asset, chain, one, at);
  }
  const isListed = coins.some((coin) => coin.startsWith(coinKey(asset, "")));
  if (isListed) addReason(on, say.notOnChain, asset, chain);
  else addReason(on, say.notInAsset, asset);
}

const ownRail: ReadonlySet<string> = new Set<Rail>(["record", "card"]);
const railOf = ({ intent: { paymentChallengeType: type } }: Case): Rail => (ownRail.has(type) ? (type as Rail) : "x402");

export function rail(on: Case): void {
  const rail = railOf(on);
  if (!on.policy.rails.has(rail)) addReason(on, say.railRefused, rail);
  else if (on.policy.namesRails) addReason(on, say.railAdmitted, rail);
}

function protocol(on: Case): void {
  const { resource, paymentChallengeType } = on.intent;
  if (resource === null) return;
  addReason(
    on,
    resource.acceptedPaymentChallengeTypes.includes(paymentChallengeType) ? say.challengeAccepted : say.challengeRefused,
  );
}
