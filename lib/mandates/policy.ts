import type { Decision, IntentFacts, MandateFacts, Usage } from "./facts.ts";

/** May this payment be made? Every rule is evaluated, and every evaluated rule gives its reason. */
export function decide(mandate: MandateFacts, usage: Usage, intent: IntentFacts, now: Date): Decision {
  void usage;
  void intent;
  void now;
  throw new Error(`The rules of ${mandate.mandateId} are not evaluated yet.`);
}
