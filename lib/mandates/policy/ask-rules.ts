import type { Finding, Findings } from "#lib/mandates/policy/facts.ts";
import { above, asksAlways, asksFirst } from "#lib/mandates/policy/sentences-limits.ts";
import { asksCards, asksMerchant } from "#lib/mandates/policy/sentences/card.ts";
import { asksPayee, asksRecords } from "#lib/mandates/policy/sentences/record.ts";
import { passkeyNeeded, passkeyNeededBefore } from "#lib/mandates/policy/sentences/mandate.ts";

/** `limit` is a decimal amount in `unit`; `who` is the party that requires a passkey: policy, seller or resource. */
export type AskRule =
  | { readonly rule: "above"; readonly limit: string; readonly unit: string }
  | { readonly rule: "always" | "firstPayment" | "records" | "cards" }
  | { readonly rule: "passkey"; readonly who: string };

function askRule([id, first]: Finding, unit: string): readonly AskRule[] {
  const value = typeof first === "string" ? first : "";
  if (id === above.id) return [{ rule: "above", limit: value, unit }];
  if (id === asksAlways.id) return [{ rule: "always" }];
  if (id === asksRecords.id || id === asksPayee.id) return [{ rule: "records" }];
  if (id === asksCards.id || id === asksMerchant.id) return [{ rule: "cards" }];
  if (id === asksFirst.id) return [{ rule: "firstPayment" }];
  return id === passkeyNeeded.id || id === passkeyNeededBefore.id ? [{ rule: "passkey", who: value }] : [];
}

export const askRules = ([, , unit, , ...findings]: Findings): readonly AskRule[] =>
  findings.flatMap((finding) => askRule(finding, unit));
