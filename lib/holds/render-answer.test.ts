import { expect, test } from "vitest";
import { answerOf, renderAnswer } from "#lib/holds/render-answer.ts";
import type { Findings } from "#lib/mandates/facts.ts";
import { renderReasons } from "#lib/mandates/render-reasons.ts";

const findings: Findings = [1, 12, "USDC", "0.5", [4]];

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
  reasons: [{ code: "satisfied", rule: "status", effect: "allow", message: "The mandate is active.", policyVersion: 12 }],
};

test("an answer has its fields in the contract's order", () => {
  const reasons = renderReasons(findings);
  const wire = (members: object) =>
    JSON.stringify({
      authorizationId: "aut_1",
      policyDecision: { ...decided, ...members, createdAt: "2026-11-22T12:00:00.001Z" },
      expiresAt: "2026-11-22T12:15:00.000Z",
    });
  expect(renderAnswer(row, reasons)).toBe(wire({}));
  expect(renderAnswer({ ...row, denialCode: "mandate_expired", reservationId: "rsv_1" }, reasons)).toBe(
    wire({ denialCode: "mandate_expired", reservationId: "rsv_1" }),
  );
  expect(answerOf({ ...row, findings: JSON.stringify(findings) })).toBe(wire({}));
});
