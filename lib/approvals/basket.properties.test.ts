import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { basketAmount, basketHash, canonicalBasket, lineAmount, type Line } from "#lib/approvals/basket.ts";

const usdc = { asset: "USDC", tokenDecimals: 6 };

const amount = fc
  .tuple(fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: 0, max: 999_999 }))
  .map(([whole, part]) => `${whole}.${String(part).padStart(6, "0")}`);
const word = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" });
const optional = { nil: undefined, freq: 2 };
const line: fc.Arbitrary<Line> = fc.record({
  productId: fc.constantFrom("a", "b", "B", "ä", "10", "9"),
  variantId: fc.option(fc.constantFrom("x", "y"), optional),
  name: word,
  color: fc.option(word, optional),
  size: fc.option(word, optional),
  quantity: fc.integer({ min: 1, max: 10_000 }),
  unitAmount: amount,
});
const lines = fc.array(line, { minLength: 1, maxLength: 8 });
const hashOf = (some: readonly Line[], sellerId = "shop.example.com") => basketHash(canonicalBasket(sellerId, usdc, some));

describe("the canonical basket", () => {
  test("one basket has one hash, with any order and spelling of the amounts", () => {
    fc.assert(
      fc.property(lines, fc.infiniteStream(fc.nat()), (basket, random) => {
        const shuffled = basket.map((line) => ({ line, at: random.next().value as number })).toSorted((a, b) => a.at - b.at);
        const respelled = shuffled.map(({ line }) => ({ ...line, unitAmount: line.unitAmount.replace(/\.?0+$/, "") }));
        expect(hashOf(respelled)).toBe(hashOf(basket));
      }),
    );
  });

  test("another seller, product, variant, name, colour, size, quantity or price has another hash", () => {
    fc.assert(
      fc.property(
        lines,
        fc.nat(),
        fc.constantFrom("productId", "variantId", "name", "color", "size", "quantity", "unitAmount"),
        (basket, at, field) => {
          const index = at % basket.length;
          const changed = basket.map((line, position) => (position === index ? { ...line, ...differ(line, field) } : line));
          expect(hashOf(changed)).not.toBe(hashOf(basket));
          expect(hashOf(basket, "evil.example.com")).not.toBe(hashOf(basket));
        },
      ),
    );
  });

  test("the lines add up to price times quantity", () => {
    fc.assert(
      fc.property(lines, (basket) => {
        const canonical = canonicalBasket("shop.example.com", usdc, basket);
        expect(basketAmount(canonical, 6)).toBe(canonical.lines.reduce((sum, line) => sum + lineAmount(line, 6), 0n));
      }),
    );
  });

  test("lines are sorted by product and variant, amounts are canonical, absent fields are left out", () => {
    const basket = canonicalBasket("sel_1", usdc, [
      { productId: "b", name: "B", quantity: 1, unitAmount: "1.50" },
      { productId: "a", variantId: "2", name: "A", quantity: 2, unitAmount: "10" },
      { productId: "a", variantId: "1", name: "A", quantity: 2, unitAmount: "0.100000" },
    ]);
    expect(basket.lines.map(({ productId, variantId, unitAmount }) => [productId, variantId, unitAmount])).toEqual([
      ["a", "1", "0.1"],
      ["a", "2", "10"],
      ["b", undefined, "1.5"],
    ]);
    expect(Object.keys(basket.lines[2]!)).toEqual(["productId", "name", "quantity", "unitAmount", "displayUnitAmount", "asset"]);
  });
});

function differ(line: Line, field: string): Partial<Line> {
  if (field === "quantity") return { quantity: line.quantity + 1 };
  if (field === "unitAmount") return { unitAmount: `1${line.unitAmount}` };
  return { [field]: `${line[field as keyof Line] ?? ""}!` };
}
