import { expect, test } from "vitest";
import { askRules } from "#lib/mandates/policy/ask-rules.ts";
import type { Finding, Findings } from "#lib/mandates/policy/facts.ts";
import { asksPerson, sentences } from "#lib/mandates/policy/render-reasons.ts";

const decided = (...findings: Finding[]): Findings => [1, 3, "USDC", "43", ...findings];

test("askRules returns each rule by which a person must approve, with its amount", () => {
  expect(askRules(decided([4], [79, "25"]))).toEqual([{ rule: "above", limit: "25", unit: "USDC" }]);
  expect(askRules(decided([76], [15, "policy", "passkeyApproved"]))).toEqual([
    { rule: "always" },
    { rule: "passkey", who: "policy" },
  ]);
  expect(askRules(decided([78]))).toEqual([{ rule: "firstPayment" }]);
  expect(askRules(decided([80, "25"], [75, "25"], [77]))).toEqual([]);
});

test("askRules finds a rule for every sentence that asks a person, and for no other", () => {
  for (const id of sentences.keys()) {
    expect(askRules(decided([id, "25", "passkeyApproved"])).length, String(id)).toBe(asksPerson([id]) ? 1 : 0);
  }
});
