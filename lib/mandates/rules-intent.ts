import { deny, satisfy, type Case } from "#lib/mandates/reason.ts";
import { toWire } from "#lib/time.ts";

/** Checks that the intent is not expired, not used before, as registered, and in the mandate's asset. */
export function intentRules(on: Case): void {
  soundness(on);
  registration(on);
  uniqueness(on);
  coin(on);
  protocol(on);
}

function soundness(on: Case): void {
  const { intent, now } = on;
  const { amount, fee, expiresAt } = intent;
  // An unreadable time counts as expired, because a comparison with NaN is false.
  if (expiresAt.getTime() > now.getTime()) satisfy(on, "intent.expiresAt", `The intent is valid until ${toWire(expiresAt)}.`);
  else deny(on, "intent_expired", "intent.expiresAt", "The intent has expired. Make a new one.");
  if (amount <= 0n || fee.buyerShare < 0n)
    deny(on, "intent_invalid", "intent.amount", "The amount of a payment must be above zero.");
}

function registration(on: Case): void {
  const { mismatches, seller, resource, unregistered } = on.intent;
  const other = seller === null ? "what the seller's challenge says" : "what the seller registered";
  for (const { field, pointer, theirs, registered } of mismatches) {
    const message =
      theirs === undefined
        ? `The ${field} of the intent differs from ${other}.`
        : `The seller's challenge asks for the ${field} ${theirs}. Registered is ${registered}.`;
    deny(on, "challenge_mismatch", "intent.registration", message, { pointer });
  }
  if (mismatches.length === 0 && unregistered?.lacks.length === 0) {
    satisfy(on, "intent.registration", "The intent is what the seller's challenge asks for.");
  }
  if (mismatches.length === 0 && seller !== null && resource !== null) {
    satisfy(on, "intent.registration", "The intent is what the seller registered.");
  }
}

function uniqueness(on: Case): void {
  const { duplicateIntentId, duplicateNonce, rejectedByPerson } = on.intent;
  if (rejectedByPerson === true)
    deny(on, "approval_rejected", "approval", "A person declined this basket under this mandate within the last hour.", {
      pointer: "/approval",
    });
  if (duplicateIntentId)
    deny(on, "intent_invalid", "intent.intentId", "This intentId was used before under this mandate. Make a new intent.");
  if (duplicateNonce)
    deny(on, "nonce_reused", "intent.nonce", "This nonce was used before under this mandate. Choose a new one.");
  if (!duplicateIntentId && !duplicateNonce) satisfy(on, "intent.intentId", "The intent is new under this mandate.");
}

export function coin(on: Case): void {
  const { asset, chain } = on.policy;
  const fits = on.intent.asset === asset && on.intent.chain === chain;
  if (fits) return satisfy(on, "assets", `The mandate pays in ${asset} on ${chain}.`, { pointer: "/assets/0" });
  if (on.intent.asset !== asset)
    deny(on, "asset_not_allowed", "assets", `This mandate pays in ${asset} alone.`, { pointer: "/assets/0/asset" });
  if (on.intent.chain !== chain)
    deny(on, "chain_not_allowed", "assets", `This mandate pays on ${chain} alone.`, { pointer: "/assets/0/chain" });
}

function protocol(on: Case): void {
  const { resource, paymentChallengeType } = on.intent;
  if (resource === null) return;
  if (resource.acceptedPaymentChallengeTypes.includes(paymentChallengeType))
    satisfy(on, "protocol", "The resource accepts this kind of challenge.");
  else deny(on, "protocol_not_allowed", "protocol", "The resource does not accept this kind of payment challenge.");
}
