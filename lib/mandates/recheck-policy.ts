import type { IntentFacts, MandateFacts, Reason, Usage } from "#lib/mandates/facts.ts";
import { conclude, openCase } from "#lib/mandates/reason.ts";
import { coin } from "#lib/mandates/rules-intent.ts";
import { agent, validity } from "#lib/mandates/rules-mandate.ts";
import { sellerRules } from "#lib/mandates/rules-seller.ts";
import { zero } from "#lib/money.ts";

const unused: Usage = { spent: zero, reserved: zero, lastHeldAt: null, buckets: new Map() };

/** Null if the rules about agent, validity, asset and seller still allow the payment; others were checked at authorization. */
export function forbiddenBy(mandate: MandateFacts, intent: IntentFacts, now: Date): Reason | null {
  const on = openCase(mandate, unused, intent, now);
  agent(on);
  validity(on);
  coin(on);
  sellerRules(on);
  return conclude(on, []).reasons.find(({ effect }) => effect === "deny") ?? null;
}
