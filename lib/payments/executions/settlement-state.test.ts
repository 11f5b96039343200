import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SettlementStatus } from "#lib/vocabulary.ts";
import { nextCheck } from "#lib/payments/executions/resolve-execution.ts";
import { mayBecome, stepOf, type Finding } from "#lib/payments/executions/settlement-state.ts";

const finding: fc.Arbitrary<Finding> = fc.oneof(
  fc.constant<Finding>({ kind: "settled", transaction: "0x1" }),
  fc.constant<Finding>({ kind: "failed", failure: { code: "settlement_rejected", detail: "" } }),
  fc.constant<Finding>({ kind: "broadcast", transaction: "0x1" }),
  fc.constant<Finding>({ kind: "unknown", detail: "" }),
  fc.constant<Finding>({ kind: "waiting" }),
  fc.constantFrom<Finding>({ kind: "forgotten", back: "processing" }, { kind: "forgotten", back: "pending" }),
);
const status = fc.constantFrom(...SettlementStatus.options);

test.each([
  ["a second after a minute", 60_000, 3, 1_000],
  ["a minute within the first day", 86_400_000, 30, 60_000],
  ["seven minutes after a week", 7 * 86_400_000, 2_000, 420_000],
  ["six hours after a year", 365 * 86_400_000, 9_000, 21_900_000],
])("an open payment is looked for again in %s", (_, ageMs, attempts, inMs) => {
  const now = new Date("2026-11-21T12:00:00Z");
  const next = nextCheck({ attempts, createdAt: new Date(now.getTime() - ageMs) }, now);
  expect(next.getTime() - now.getTime()).toBe(inMs);
});

describe("settlement states", () => {
  test("any sequence of findings makes only listed transitions, and settled changes only if the chain dropped the transaction", () => {
    fc.assert(
      fc.property(status, fc.array(finding, { maxLength: 20 }), (start, findings) => {
        let current = start;
        for (const next of findings) {
          const step = stepOf(current, next);
          if (step.changes) expect(mayBecome(current, step.status)).toBe(true);
          else expect(step.status).toBe(current);
          if (current === "failed") expect(step.changes).toBe(false);
          if (current === "settled" && next.kind !== "forgotten") expect(step.changes).toBe(false);
          current = step.status;
        }
      }),
    );
  });

  test("the status unknown changes only on evidence", () => {
    fc.assert(
      fc.property(finding, (next) => {
        const { status: to } = stepOf("unknown", next);
        expect(to === "unknown" || next.kind === "settled" || next.kind === "failed").toBe(true);
      }),
    );
  });

  test("a known transaction never ends an execution", () => {
    for (const from of SettlementStatus.options)
      expect(stepOf(from, { kind: "broadcast", transaction: "0x1" }).changes).toBe(false);
  });
});
