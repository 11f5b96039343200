import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applied,
  captureEntries,
  countsAsPayment,
  openOf,
  storedAfter,
  sumsOf,
  type LedgerEntry,
  type StoredSums,
} from "#lib/holds/sums.ts";
import { atomicOf, zero } from "#lib/money.ts";

const fresh = (amount: bigint): StoredSums => ({
  status: "held",
  amount: atomicOf(amount),
  captured: null,
  released: null,
  refunded: null,
});
const after = (hold: StoredSums, entries: readonly LedgerEntry[]): StoredSums =>
  entries.reduce((before, entry) => storedAfter(before, applied(sumsOf(before), [entry]), entry.kind), hold);

const amount = fc.bigInt({ min: 1n, max: 40n }).map(atomicOf);
const kinds = ["raise", "capture", "release", "expire", "refund", "overrun"] as const;
const entry: fc.Arbitrary<LedgerEntry> = fc.record({ kind: fc.constantFrom(...kinds), amount });

/** The entries that a hold takes; others throw and change nothing. */
function possible(hold: StoredSums, entries: readonly LedgerEntry[]): [StoredSums, LedgerEntry[]][] {
  const states: [StoredSums, LedgerEntry[]][] = [[hold, []]];
  for (const one of entries) {
    const [last, taken] = states.at(-1)!;
    try {
      states.push([after(last, [one]), [...taken, one]]);
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
    }
  }
  return states;
}

describe("the sums of a hold", () => {
  test("held is what was captured, released and is open, after every entry, and is open exactly while its status says so", () => {
    fc.assert(
      fc.property(amount, fc.array(entry, { maxLength: 30 }), (held, entries) => {
        for (const [hold, taken] of possible(fresh(held), entries)) {
          const sums = sumsOf(hold);
          expect(sums.held).toBe(sums.captured + sums.released + openOf(sums));
          for (const part of [openOf(sums), sums.captured, sums.released, sums.refunded, sums.captured - sums.refunded])
            expect(part).toBeGreaterThanOrEqual(0n);
          expect(openOf(sums) > zero).toBe(hold.status === "held");
          expect(countsAsPayment(hold)).toBe(openOf(sums) > zero || sums.captured > zero);
          // Stored with or without sums, a hold says the same.
          const net = (...of: readonly string[]) =>
            taken.reduce((sum, { kind, ...one }) => (of.includes(kind) ? sum + one.amount : sum), 0n);
          expect(sums.captured).toBe(net("capture", "overrun"));
          expect(sums.refunded).toBe(net("refund"));
          expect(openOf(sums)).toBe(held + net("raise") - net("capture", "release", "expire"));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("a hold that is captured, released or expired whole is stored without sums", () => {
    for (const [kind, status] of [
      ["capture", "captured"],
      ["release", "released"],
      ["expire", "expired"],
    ] as const)
      expect(after(fresh(7n), [{ kind, amount: atomicOf(7n) }])).toEqual({ ...fresh(7n), status });
    const late = after(fresh(7n), [
      { kind: "expire", amount: atomicOf(7n) },
      { kind: "overrun", amount: atomicOf(7n) },
    ]);
    expect(late).toEqual({ ...fresh(7n), status: "captured" });
  });

  test("captures in any parts end at the same sums, and only what is not open is an overrun", () => {
    fc.assert(
      fc.property(amount, fc.array(amount, { minLength: 1, maxLength: 12 }), (held, parts) => {
        const total = atomicOf(parts.reduce((sum, part) => sum + part, 0n));
        const split = parts.reduce((hold, part) => after(hold, captureEntries(sumsOf(hold), part)), fresh(held));
        const whole = after(fresh(held), captureEntries(sumsOf(fresh(held)), total));
        expect(sumsOf(split)).toEqual(sumsOf(whole));
        expect(sumsOf(whole)).toEqual({ held: total > held ? total : held, captured: total, released: 0n, refunded: 0n });
      }),
    );
  });

  test("nothing is captured, released or refunded that is not there", () => {
    const one = (kind: LedgerEntry["kind"], of: bigint): LedgerEntry => ({ kind, amount: atomicOf(of) });
    const wrong: readonly (readonly LedgerEntry[])[] = [
      [one("capture", 8n)],
      [one("release", 8n)],
      [one("refund", 1n)],
      [one("capture", 0n)],
      [one("raise", -1n)],
      [one("capture", 3n), one("refund", 4n)],
      [one("release", 7n), one("expire", 1n)],
    ];
    for (const entries of wrong) expect(() => applied(sumsOf(fresh(7n)), entries)).toThrow(RangeError);
  });
});
