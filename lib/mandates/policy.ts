import type { Decision, IntentFacts, MandateFacts, Reason, Usage } from "#lib/mandates/facts.ts";
import { conclude, display, openCase, text, type Case } from "#lib/mandates/reason.ts";
import { intentRules } from "#lib/mandates/rules-intent.ts";
import { limitRules } from "#lib/mandates/rules-limits.ts";
import { mandateRules, passkeyDemands } from "#lib/mandates/rules-mandate.ts";
import { sellerRules } from "#lib/mandates/rules-seller.ts";

/** Decides whether this payment may be made. Evaluates every rule; every evaluated rule adds its reason. */
export function decide(mandate: MandateFacts, usage: Usage, intent: IntentFacts, now: Date): Decision {
  const on = openCase(mandate, usage, intent, now);
  mandateRules(on);
  intentRules(on);
  sellerRules(on);
  limitRules(on);
  const asked = approval(on);
  return conclude(on, [...(asked === null ? [] : [asked]), ...passkeys(on)]);
}

const askedEffect = (on: Case): "approval" | "info" => (on.denials.length === 0 ? "approval" : "info");

/** Only a person has a passkey, so a demand for one asks a person, whatever the approval rule says. */
const passkeys = (on: Case): Reason[] =>
  passkeyDemands(on).map(({ who, level, details }) => ({
    code: "approval_required",
    rule: "minimumAssuranceLevel",
    effect: askedEffect(on),
    message: `The ${who} asks for ${level}: a person approves this payment with a passkey.`,
    ...details,
    policyVersion: on.mandate.version,
  }));

/** A person is asked only if no rule denies. Otherwise the reason is informational. */
function approval(on: Case): Reason | null {
  const { mode, amount } = on.policy.approval;
  const reason = (asked: boolean, message: string): Reason => ({
    code: asked ? "approval_required" : "satisfied",
    rule: "approval",
    effect: asked ? askedEffect(on) : "allow",
    message,
    pointer: "/approval",
    ...(mode === "above" &&
      amount !== null && { limit: text(on, amount), requested: text(on, on.requested), unit: on.policy.asset }),
    policyVersion: on.mandate.version,
  });
  if (mode !== "never" && on.intent.approvedByPerson === true) return reason(false, "A person approved this payment.");
  switch (mode) {
    case "never":
      return null;
    case "always":
      return reason(true, "The policy asks a person before every payment.");
    case "firstPayment":
      return on.intent.sellerPaidBefore
        ? reason(false, "This seller was paid before under this mandate.")
        : reason(true, "The policy asks a person before the first payment to a seller.");
    case "above": {
      const limit = amount ?? (0n as typeof on.requested);
      const message = `The policy asks a person before payments above ${display(on, limit)}.`;
      return reason(on.requested > limit, message);
    }
  }
}
