import fc from "fast-check";
import { expect, test } from "vitest";
import { displayAmount, formatAmount, readAmount } from "#lib/money.ts";

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
