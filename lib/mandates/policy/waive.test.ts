import { describe, expect, test } from "vitest";
import type { IntentFacts, Usage } from "#lib/mandates/policy/facts.ts";
import { decide } from "#lib/mandates/policy/policy.ts";
import { isWaivable, usesWaiver } from "#lib/mandates/policy/waive.ts";
import { intentOf, mandateOf, NOW, usageOf, usdc } from "#test/mandate-facts.ts";

type Rules = Parameters<typeof mandateOf>[0];
type Refused = { readonly rules: Rules; readonly intent?: Partial<IntentFacts>; readonly usage?: Usage };

const decided = ({ rules, intent, usage = usageOf() }: Refused, waived: boolean) =>
  decide(mandateOf(rules), usage, intentOf({ ...intent, waived }), NOW);

const waivable: Readonly<Record<string, Refused>> = {
  "the limit for one payment": { rules: { limits: { perPayment: "0.4" } } },
  "the limit for fees": {
    rules: { maximumFee: { amount: "0.01" } },
    intent: { fee: { serviceFee: usdc("0.02"), buyerShare: usdc("0.02") } },
  },
  "a list of sellers": { rules: { sellers: { allow: [] } } },
  "a list of domains": { rules: { domains: { allow: ["other.example"] } } },
  "a list of addresses": { rules: { payTo: { allow: ["0x00000000000000000000000000000000000000bb"] } } },
  "a list of resources": { rules: { resources: [{ sellerId: "sel_one", resourceId: "other" }] } },
  "two of these rules": { rules: { limits: { perPayment: "0.4" }, sellers: { allow: [] } } },
};

const firm: Readonly<Record<string, Refused>> = {
  "a seller on the deny list": { rules: { sellers: { deny: ["sel_one"] } } },
  "a domain on the deny list": { rules: { domains: { deny: ["example.com"] } } },
  "a budget": { rules: { limits: { perPayment: "0.4", budgets: [{ period: "day", timezone: "UTC", amount: "0.45" }] } } },
  "the total": { rules: { limits: { perPayment: "0.4" } }, usage: usageOf({ spent: usdc("99.8") }) },
  "the time since the last payment": {
    rules: { limits: { perPayment: "0.4", cooldownSeconds: 60 } },
    usage: usageOf({ lastHeldAt: NOW }),
  },
  "an emergency stop": { rules: { limits: { perPayment: "0.4" } }, intent: { payeeStop: "stopped" } },
  "a changed challenge": {
    rules: { limits: { perPayment: "0.4" } },
    intent: { mismatches: [{ field: "amount", pointer: "/intent/amount" }] },
  },
  "a person's no": { rules: { limits: { perPayment: "0.4" } }, intent: { rejectedByPerson: true } },
};

describe("a waiver", () => {
  test.each(Object.entries(waivable))("admits a payment that %s refuses, and says so", (_name, refused) => {
    const denied = decided(refused, false);
    expect([denied.outcome, isWaivable(denied), usesWaiver(denied)]).toEqual(["deny", true, false]);
    const waived = decided(refused, true);
    expect([waived.outcome, usesWaiver(waived)]).toEqual(["allow", true]);
    const said = waived.reasons.filter(({ message }) => message.startsWith("A person allowed this one payment"));
    expect(said.map(({ rule }) => rule).toSorted()).toEqual(
      denied.reasons.flatMap(({ effect, rule }) => (effect === "deny" ? [rule] : [])).toSorted(),
    );
  });

  test.each(Object.entries(firm))("does not admit a payment that %s refuses", (_name, refused) => {
    const denied = decided(refused, true);
    expect([denied.outcome, isWaivable(denied), usesWaiver(denied)]).toEqual(["deny", false, false]);
    expect(denied.reasons).toEqual(decided(refused, false).reasons);
  });

  test("does not admit a seller whose domain is not verified", () => {
    const seller = { sellerId: "sel_one", domain: "shop.example.com", verified: false };
    expect(decided({ rules: { sellers: { allow: [] } }, intent: { seller } }, true).outcome).toBe("deny");
  });

  test("replaces the approval above an amount or of a first payment, and never that of each payment or a passkey", () => {
    const limits = { perPayment: "0.4" };
    const outcome = (rules: Rules) => decided({ rules: { limits, ...rules } }, true).outcome;
    expect(outcome({ approval: { mode: "above", amount: "0.1" } })).toBe("allow");
    expect(outcome({ approval: { mode: "firstPayment" } })).toBe("allow");
    expect(outcome({ approval: { mode: "always" } })).toBe("requireApproval");
    expect(outcome({ approval: { mode: "firstPayment" }, minimumAssuranceLevel: "passkeyApproved" })).toBe("requireApproval");
  });

  test("is not used by a payment that the policy allows", () => {
    const allowed = decided({ rules: {} }, true);
    expect([allowed.outcome, usesWaiver(allowed)]).toEqual(["allow", false]);
    expect(decided({ rules: { approval: { mode: "always" } } }, true).outcome).toBe("requireApproval");
  });
});
