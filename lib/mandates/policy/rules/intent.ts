import { add, type Case } from "#lib/mandates/policy/rules/reason.ts";
import * as say from "#lib/mandates/policy/sentences/intent.ts";
import { toWire } from "#lib/time.ts";

export function intentRules(on: Case): void {
  soundness(on);
  registration(on);
  uniqueness(on);
  coin(on);
  protocol(on);
}

function soundness(on: Case): void {
  const { intent, now } = on;
  const { amount, fee, expiresAt, settledFrom } = intent;
  // An unreadable time counts as expired, because a comparison with NaN is false.
  if (expiresAt.getTime() > now.getTime()) add(on, say.intentValid, toWire(expiresAt));
  else add(on, say.intentExpired);
  if (amount <= 0n || fee.buyerShare < 0n) add(on, say.notPositive);
  if (settledFrom !== undefined) add(on, say.tooSmallToSettle, settledFrom);
}

function registration(on: Case): void {
  const { mismatches, seller, resource, unregistered } = on.intent;
  const differs = seller === null ? say.differsFromChallenge : say.differsFromRecord;
  for (const { field, pointer, theirs, registered } of mismatches) {
    if (theirs === undefined) add(on, differs, field, pointer);
    else add(on, say.challengeDiffers, field, pointer, theirs, registered ?? "");
  }
  if (mismatches.length === 0 && unregistered?.lacks.length === 0) add(on, say.asChallenged);
  if (mismatches.length === 0 && seller !== null && resource !== null) add(on, say.asRegistered);
}

function uniqueness(on: Case): void {
  const { duplicateIntentId, duplicateNonce, rejectedByPerson, unanswered } = on.intent;
  if (rejectedByPerson === true) add(on, say.declined);
  if (unanswered === true) add(on, say.unanswered);
  if (duplicateIntentId) add(on, say.intentIdUsed);
  if (duplicateNonce) add(on, say.nonceUsed);
  if (!duplicateIntentId && !duplicateNonce) add(on, say.intentNew);
}

export function coin(on: Case): void {
  const { asset, chain } = on.policy;
  if (on.intent.asset === asset && on.intent.chain === chain) return add(on, say.paysIn, chain);
  if (on.intent.asset !== asset) add(on, say.otherAsset);
  if (on.intent.chain !== chain) add(on, say.otherChain, chain);
}

function protocol(on: Case): void {
  const { resource, paymentChallengeType } = on.intent;
  if (resource === null) return;
  add(on, resource.acceptedPaymentChallengeTypes.includes(paymentChallengeType) ? say.challengeAccepted : say.challengeRefused);
}
