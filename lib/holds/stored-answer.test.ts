import fc from "fast-check";
import { expect, test } from "vitest";
import { answerOf, lengthen, shorten, writeAnswer } from "#lib/holds/stored-answer.ts";

const begin = '{"code":"satisfied","effect":"allow","rule":"';
const strange = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(begin, ',"policyVersion":', "The mandate is active.", "\u0010", "\u0011a", "\u0012"),
);
const reason = fc.record({
  code: fc.constantFrom("satisfied", "per_payment_limit_exceeded"),
  effect: fc.constantFrom("allow", "deny"),
  rule: fc.oneof(strange, fc.constant("status")),
  message: strange,
  policyVersion: fc.oneof(fc.nat(), strange),
});

test("reasons are read as they were written, with any text", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(reason, fc.jsonValue({ stringUnit: "binary" }))), (reasons) => {
      const text = JSON.stringify(reasons);
      expect(lengthen(shorten(text))).toBe(text);
    }),
    { numRuns: 1_000 },
  );
});

const row = {
  authorizationId: "aut_1",
  policyDecisionId: "pd_1",
  mandateId: "mdt_1",
  intentId: 'an "intent"',
  outcome: "deny",
  denialCode: null,
  reservationId: null,
  createdAt: new Date("2026-11-22T12:00:00.001Z"),
  expiresAt: new Date("2026-11-22T12:15:00.000Z"),
};
const decided = {
  policyDecisionId: "pd_1",
  mandateId: "mdt_1",
  intentId: 'an "intent"',
  outcome: "deny",
  reasons: [{ code: "satisfied", effect: "allow", rule: "status", message: "The mandate is active.", policyVersion: 12 }],
};

test("an answer has its fields in the contract's order", () => {
  const reasons = JSON.stringify(decided.reasons);
  const wire = (members: object) =>
    JSON.stringify({
      authorizationId: "aut_1",
      policyDecision: { ...decided, ...members, createdAt: "2026-11-22T12:00:00.001Z" },
      expiresAt: "2026-11-22T12:15:00.000Z",
    });
  expect(writeAnswer(row, reasons)).toBe(wire({}));
  expect(writeAnswer({ ...row, denialCode: "mandate_expired", reservationId: "rsv_1" }, reasons)).toBe(
    wire({ denialCode: "mandate_expired", reservationId: "rsv_1" }),
  );
  expect(answerOf({ ...row, reasons: lengthen(shorten(reasons)) })).toBe(wire({}));
});

test("the most frequent reasons are stored as one character", () => {
  expect(shorten(JSON.stringify(decided.reasons))).toBe("[\u0011a12}]");
});
