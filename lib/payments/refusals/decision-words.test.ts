import { describe, expect, test } from "vitest";
import { sentences } from "#lib/mandates/policy/render-reasons.ts";
import { failures, isFailure, ruleName, rules } from "#lib/payments/refusals/decision-words.ts";
import { failureCodes } from "#lib/x402/failure.ts";

const SENTENCE = /^[A-Z][^!]*[.]$/;

describe("words for decisions", () => {
  test.each(failureCodes)("the failure %s is explained in sentences", (code) => {
    expect(failures[code]).toMatch(SENTENCE);
    expect(isFailure(code)).toBe(true);
  });

  test("exactly the rules that a decision can evaluate have a name", () => {
    const found = new Set([...sentences.values()].map(({ rule }) => rule));
    expect(Object.keys(rules).toSorted()).toEqual([...found].toSorted());
    expect(ruleName("limits.perPayment")).toBe("Per payment");
    expect(ruleName("limits.new")).toBe("limits.new");
  });
});
