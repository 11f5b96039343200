import type { IntentFacts, MandateFacts, Reason, Usage } from "#lib/mandates/policy/facts.ts";
import { conclude, openCase } from "#lib/mandates/policy/rules/reason.ts";
import { coin, rail } from "#lib/mandates/policy/rules/intent.ts";
import { agent, validity } from "#lib/mandates/policy/rules/mandate.ts";
import { sellerRules } from "#lib/mandates/policy/rules-seller.ts";
import { zero } from "#lib/money.ts";

const unused: Usage = { spent: zero, reserved: zero, lastHeldAt: null, buckets: new Map() };

/** Null if the rules about agent, validity, asset, rail and seller still allow the payment; others were checked at authorization. */
export function forbiddenBy(mandate: MandateFacts, intent: IntentFacts, now: Date): Reason | null {
  const on = openCase(mandate, unused, intent, now);
  agent(on);
  validity(on);
  coin(on);
  rail(on);
  sellerRules(on);
  return conclude(on, []).reasons.find(({ effect }) => effect === "deny") ?? null;
}
