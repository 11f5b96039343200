import fc from "fast-check";
import { expect, test } from "vitest";
import { lengthen, shorten } from "#lib/payments/stored-answer.ts";

const reason = fc.record({
  code: fc.constantFrom("satisfied", "per_payment_limit_exceeded"),
  effect: fc.constantFrom("allow", "deny"),
  rule: fc.string({ unit: "binary" }),
  message: fc.oneof(fc.string({ unit: "binary" }), fc.constant('{"code":"satisfied","effect":"allow","rule":"')),
});

test("an answer is read as it was written, whatever its texts say", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(reason, fc.jsonValue({ stringUnit: "binary" }))), (reasons) => {
      const answer = JSON.stringify({ reasons });
      expect(lengthen(shorten(answer))).toBe(answer);
    }),
    { numRuns: 1_000 },
  );
});

test("what rows of before hold is left as it is", () => {
  const before = JSON.stringify({ reasons: [{ code: "satisfied", effect: "allow", rule: "status", message: "Active." }] });
  expect(lengthen(before)).toBe(before);
  expect(shorten(before).length).toBeLessThan(before.length - 40);
});
