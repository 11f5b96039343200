import { describe, expect, test } from "vitest";
import { visible } from "#lib/visible-text.ts";
import { columnDigits, money } from "#components/ui/money.tsx";

describe("text that other people wrote", () => {
  test.each([
    "\u202E",
    "\u2066",
    "\u200F",
    "\u061C",
    "\u0000",
    "\u001B",
    "\u200B",
    "\u2060",
    "\uFEFF",
    "\u{E0041}",
    "\n",
    "\u009B",
    "\u2028",
    "\u00AD",
    "\u034F",
    "\u3164",
    "\uFE01",
    "\u{E0100}",
    "\uE000",
    "\uFFF9",
  ])("%j is made visible", (hidden) => expect(visible(`a${hidden}b`)).toBe("a\uFFFDb"));

  test.each(["Acme Supply", "38 × 90 mm", "קפה", "日本茶", "👩‍🔬 coat", "❤️ card", "café", "می‌خواهم", "ᠠ᠋"])(
    "%s stays as it is",
    (text) => expect(visible(text)).toBe(text),
  );
});

describe("money", () => {
  test.each([
    ["43", "43.00 USDC"],
    ["1200000.5", "1,200,000.50 USDC"],
    ["0.000001", "0.000001 USDC"],
  ])("%s is %s", (amount, text) => expect(money(amount, "USDC")).toBe(text));

  test("money has as many fraction digits as the longest amount of its column", () => {
    const digits = columnDigits(["1.25", "0.002", "3"]);
    expect(["1.25", "0.002", "3"].map((amount) => money(amount, "USDC", digits))).toEqual([
      "1.250 USDC",
      "0.002 USDC",
      "3.000 USDC",
    ]);
  });
});
