import type { Decision, Finding, IntentFacts, MandateFacts, Usage } from "#lib/mandates/policy/facts.ts";
import { addReason, conclude, openCase, text, type Case } from "#lib/mandates/policy/rules/reason.ts";
import { intentRules } from "#lib/mandates/policy/rules/intent.ts";
import { limitRules, maximumFee, perPayment } from "#lib/mandates/policy/rules-limits.ts";
import { asksPerson } from "#lib/mandates/policy/render-reasons.ts";
import { mandateRules, passkeyDemands } from "#lib/mandates/policy/rules/mandate.ts";
import { sellerRules } from "#lib/mandates/policy/rules-seller.ts";
import * as say from "#lib/mandates/policy/sentences-limits.ts";
import * as sayOfCard from "#lib/mandates/policy/sentences/card.ts";
import * as sayOfRecord from "#lib/mandates/policy/sentences/record.ts";
import { passkeyNeeded } from "#lib/mandates/policy/sentences/mandate.ts";
import { canBeWaived, waive } from "#lib/mandates/policy/waive.ts";
import { zero } from "#lib/money.ts";

/** Evaluates every rule, even after a denial, so that all reasons are known. */
export function decide(mandate: MandateFacts, usage: Usage, intent: IntentFacts, now: Date): Decision {
  const on = openCase(mandate, usage, intent, now);
  mandateRules(on);
  intentRules(on);
  sellerRules(on);
  limitRules(on);
  const waived = waive(on);
  const approvals = [...approval(on, waived), ...recordPayee(on), ...cardMerchant(on), ...passkeys(on)];
  if (intent.card && approvals.some(asksPerson)) addReason(on, sayOfCard.needsClearance);
  return conclude(on, approvals);
}

/** Whether a person is asked about the payment if no rule denies it and nobody waived a denial. */
export function mayAsk(mandate: MandateFacts, usage: Usage, intent: IntentFacts, now: Date): boolean {
  return !intent.card && asks(mandate, usage, intent, now);
}

/** Whether the purchase by card needs a clearance. */
export const mayClear = (mandate: MandateFacts, usage: Usage, intent: IntentFacts, now: Date): boolean =>
  intent.card !== undefined && asks(mandate, usage, intent, now);

function asks(mandate: MandateFacts, usage: Usage, intent: IntentFacts, now: Date): boolean {
  const on = openCase(mandate, usage, intent, now);
  return [...approval(on, false), ...recordPayee(on), ...cardMerchant(on), ...passkeys(on)].some(asksPerson);
}

/** Whether a rule that a person can waive denies the payment. No other payment changes what these rules say. */
export function mayWaive(mandate: MandateFacts, usage: Usage, intent: IntentFacts, now: Date): boolean {
  if (intent.seller?.verified !== true) return false;
  const on = openCase(mandate, usage, intent, now);
  if (!on.isCounted) return false;
  sellerRules(on);
  perPayment(on);
  maximumFee(on);
  return on.denials.some(canBeWaived);
}

/** Only people have passkeys, so a person is asked whatever the approval rule says. */
const passkeys = (on: Case): Finding[] => passkeyDemands(on).map(({ who }) => [passkeyNeeded.id, who]);

/** The allow lists of the policy speak of 402s, so payments that are made elsewhere have a rule of their own. */
function recordPayee({ policy: { records }, intent: { record, approvedByPerson } }: Case): Finding[] {
  if (!record) return [];
  if (approvedByPerson === true) return [[sayOfRecord.payeeApproved.id]];
  if (records.asks) return [[sayOfRecord.asksRecords.id]];
  if (records.payees === null) return [[sayOfRecord.anyPayee.id]];
  const isListed = record.payee !== null && records.payees.has(record.payee);
  return [[(isListed ? sayOfRecord.payeeListed : sayOfRecord.asksPayee).id]];
}

/** The first list that does not name the merchant asks. */
function cardMerchant({ policy: { cards }, intent: { card, approvedByPerson } }: Case): Finding[] {
  if (!card) return [];
  if (approvedByPerson === true) return [[sayOfCard.merchantCleared.id]];
  if (cards.asks) return [[sayOfCard.asksCards.id]];
  const { category, country, merchant } = card;
  const named = { categories: category, countries: country ?? "an unknown country", merchants: merchant };
  const missing = (["categories", "countries", "merchants"] as const).find((list) => cards[list]?.has(named[list]) === false);
  return [missing === undefined ? [sayOfCard.anyMerchant.id] : [sayOfCard.asksMerchant.id, missing, named[missing]]];
}

/** If a rule denies the payment, nobody is asked, and these findings are only information. */
function approval(on: Case, waived: boolean): Finding[] {
  const { mode, amount } = on.policy.approval;
  const limit = mode === "above" ? text(on, amount ?? zero) : null;
  if (mode === "never" || !on.isCounted) return [];
  // A mandate that asks about every payment asks about one that was allowed once too.
  if (on.intent.approvedByPerson === true || (waived && mode !== "always")) return [[say.approved.id, limit]];
  switch (mode) {
    case "always":
      return [[say.asksAlways.id]];
    case "firstPayment":
      return [[(on.intent.sellerPaidBefore ? say.paidBefore : say.asksFirst).id]];
    case "above":
      return [[(on.requested > (amount ?? zero) ? say.above : say.notAbove).id, limit]];
  }
}
