import fc from "fast-check";
import { expect, test } from "vitest";
import { given } from "#lib/db/bulk.ts";
import { pool } from "#lib/db/client.ts";
import { answerOf, renderAnswer } from "#lib/holds/render-answer.ts";
import type { Findings } from "#lib/mandates/policy/facts.ts";
import { decide } from "#lib/mandates/policy/policy.ts";
import { renderReasons } from "#lib/mandates/policy/render-reasons.ts";
import { useDatabase } from "#test/database.ts";
import { intentOf, mandateOf, NOW, seller, usageOf } from "#test/mandate-facts.ts";

useDatabase();

const findings: Findings = [1, 12, "USDC", "0.5", [4]];

const row = {
  authorizationId: "aut_1",
  mandateId: "mdt_1",
  intentId: 'an "intent"',
  outcome: "deny",
  denialCode: null,
  held: false,
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
  expect(renderAnswer({ ...row, denialCode: "mandate_expired", held: true }, reasons)).toBe(
    wire({ denialCode: "mandate_expired", reservationId: "rsv_1" }),
  );
  expect(answerOf({ ...row, findings: JSON.stringify(findings) })).toBe(wire({}));
});

/**
 * Characters that often break code: NUL, the separators of statements for many rows, single halves of a surrogate pair, quotes,
 * line ends, and marks that change the direction of text.
 */
const hostile = [..."\0\u0001\u0002\u001b\u007f\"'\\\r\n\u2028\u202e\u200f\ufeff{},%é😀", "\ud83d", "\ude00", "NULL", "\\u0001"];
const text = fc
  .tuple(fc.string({ unit: fc.constantFrom(...hostile) }), fc.string({ unit: "binary" }), fc.constantFrom(1, 1, 1, 500))
  .map(([first, second, times]) => `${first}${second}`.repeat(times));

const texts = fc.record({ domain: text, look: text, field: text, pointer: text, theirs: text, registered: text, lack: text });
type Texts = typeof texts extends fc.Arbitrary<infer T> ? T : never;

/**
 * Makes the decisions about a payment to a registered seller and about one to an unregistered seller. The reasons contain the
 * texts.
 */
function decisionsOf({ domain, look, field, pointer, theirs, registered, lack }: Texts) {
  const mandate = mandateOf({ domains: { allow: ["example.com"] }, sellers: { unregistered: "allow" } });
  const mismatches = [
    { field, pointer },
    { field, pointer, theirs, registered },
  ];
  const claimed = { ...seller, domain: `${domain}.example.com`, verified: false };
  const unregistered = { domain: `${domain}.org`, lacks: [{ detail: lack, pointer }] };
  const payments = [
    { seller: claimed, domainLook: look },
    { seller: null, resource: null, unregistered },
  ];
  return payments.map((payment) => decide(mandate, usageOf(), intentOf({ ...payment, mismatches }), NOW));
}

test("a retry receives the same bytes, whatever text of an agent or a seller the findings contain", async () => {
  const { source, values } = given<Findings>("stored", [["findings", "json text", (findings) => JSON.stringify(findings)]]);
  const property = fc.asyncProperty(texts, async (written) => {
    const decisions = decisionsOf(written);
    const said = decisions.flatMap(({ reasons }) => reasons.map(({ message, pointer }) => `${message}\n${pointer}`)).join("\n");
    for (const text of Object.values(written)) expect(said.includes(text)).toBe(true);
    const all = values(decisions.map(({ findings }) => findings));
    const stored = await pool().unsafe<{ findings: string }[]>(`SELECT findings FROM ${source}`, all, { prepare: true });
    const first = decisions.map(({ reasons }) => renderAnswer(row, reasons));
    expect(stored.map(({ findings }) => answerOf({ ...row, findings }))).toEqual(first);
  });
  await fc.assert(property, { numRuns: 300 });
});
