import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  atomicOf,
  bookOfCapture,
  countDown,
  countUp,
  displayAmount,
  formatAmount,
  max,
  min,
  parseAmount,
  readAmount,
  subtract,
  UNIT_DECIMALS,
  zero,
  type Atomic,
} from "#lib/money.ts";

test("an amount has one spelling, and is read back unchanged", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 60n }), fc.integer({ min: 0, max: 18 }), (amount, decimals) => {
      const text = formatAmount(amount, decimals);
      expect(text).toMatch(/^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/);
      expect(readAmount(text, decimals)).toEqual({ ok: true, amount });
    }),
  );
});

test.each([
  [0n, 6, "0", "0.00 USDC"],
  [1n, 6, "0.000001", "0.000001 USDC"],
  [10_000n, 6, "0.01", "0.01 USDC"],
  [1_200_000_000n, 6, "1200", "1,200.00 USDC"],
  [1_234_567_500_000n, 6, "1234567.5", "1,234,567.50 USDC"],
  [1_000n, 0, "1000", "1,000.00 USDC"],
])("%s of %s decimals is %s, and %s for people", (amount, decimals, text, display) => {
  expect(formatAmount(amount, decimals)).toBe(text);
  expect(displayAmount(amount, decimals, "USDC")).toBe(display);
});

const count = (amount: string, decimals: number, rate: string): string =>
  formatAmount(
    countUp({ amount: parseAmount(amount, decimals), decimals, rate: parseAmount(rate, UNIT_DECIMALS) }),
    UNIT_DECIMALS,
  );

const amounts = fc.bigInt({ min: 0n, max: 10n ** 30n }).map(atomicOf);
const rates = fc.bigInt({ min: 1n, max: 10n ** 15n }).map(atomicOf);
const digits = fc.integer({ min: 0, max: 18 });
const cases = fc.record({ amount: amounts, rate: rates, decimals: digits });

describe("what an amount counts as in the unit", () => {
  test.each([
    ["0.25", 6, "1", "0.25"],
    ["0.25", 6, "1.12", "0.28"],
    ["0.000001", 6, "1.12", "0.00000112"],
    ["0.000001", 6, "0.0001", "0.000000001"],
    ["0.000000000000000001", 18, "1", "0.000000001"],
    ["3", 0, "0.333333333", "0.999999999"],
  ])("%s of an asset with %i decimals at %s is %s", (amount, decimals, rate, counted) => {
    expect(count(amount, decimals, rate)).toBe(counted);
  });

  test("is never less than it is, and less than one step more", () => {
    fc.assert(
      fc.property(cases, (one) => {
        const exact = one.amount * one.rate;
        const whole = 10n ** BigInt(one.decimals);
        expect(countUp(one) * whole).toBeGreaterThanOrEqual(exact);
        expect((countUp(one) - 1n) * whole).toBeLessThan(exact === 0n ? 1n : exact);
        expect(countDown(one) * whole).toBeLessThanOrEqual(exact);
        expect(countUp(one) - countDown(one)).toBeLessThanOrEqual(1n);
      }),
    );
  });

  test("is not less for a larger amount or a higher rate", () => {
    fc.assert(
      fc.property(cases, amounts, rates, (one, more, higher) => {
        expect(countUp({ ...one, amount: atomicOf(one.amount + more) })).toBeGreaterThanOrEqual(countUp(one));
        expect(countUp({ ...one, rate: atomicOf(one.rate + higher) })).toBeGreaterThanOrEqual(countUp(one));
      }),
    );
  });
});

describe("captures in parts", () => {
  const parts = fc.array(fc.bigInt({ min: 1n, max: 10n ** 12n }).map(atomicOf), { minLength: 1, maxLength: 12 });
  const sumOf = (list: readonly Atomic[]) => atomicOf(list.reduce<bigint>((sum, part) => sum + part, 0n));

  function captureAll(list: readonly Atomic[], held: Atomic, terms: { readonly decimals: number; readonly rate: Atomic }) {
    let [soFar, captured] = [zero, zero];
    for (const part of list) {
      soFar = atomicOf(soFar + part);
      const booked = bookOfCapture({ amount: soFar, ...terms }, { held, captured });
      expect(booked).toBeGreaterThanOrEqual(0n);
      captured = atomicOf(captured + booked);
    }
    return captured;
  }

  test("end at the same sum, however they are split, and leave the exact rest of the hold", () => {
    fc.assert(
      fc.property(parts, fc.bigInt({ min: 0n, max: 10n ** 13n }), digits, rates, (list, rest, decimals, rate) => {
        const terms = { decimals, rate };
        const held = countUp({ amount: atomicOf(sumOf(list) + rest), ...terms });
        const captured = captureAll(list, held, terms);
        expect(captured).toBe(captureAll([sumOf(list)], held, terms));
        expect(captured).toBe(min(held, countUp({ amount: sumOf(list), ...terms })));
        if (rest === 0n) expect(subtract(held, captured)).toBe(zero);
      }),
    );
  });

  test("never book more than was held", () => {
    fc.assert(
      fc.property(parts, amounts, digits, rates, (list, held, decimals, rate) => {
        expect(captureAll(list, held, { decimals, rate })).toBeLessThanOrEqual(max(held, zero));
      }),
    );
  });
});
