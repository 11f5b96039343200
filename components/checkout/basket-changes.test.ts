import { describe, expect, test } from "vitest";
import { basketChanges } from "#components/checkout/basket-changes.ts";
import type { LineView } from "#lib/approvals/checkout-view.ts";

const line = (productId: string, quantity: number, unitAmount: string, color?: string): LineView => ({
  productId,
  name: productId,
  quantity,
  unitAmount,
  displayUnitAmount: `${unitAmount} USDC`,
  asset: "USDC",
  subtotal: unitAmount,
  displaySubtotal: `${unitAmount} USDC`,
  ...(color !== undefined && { color }),
});

const kinds = (now: LineView[], before: LineView[]) =>
  basketChanges(now, before).map(({ line: { productId }, kind }) => [productId, kind]);

describe("basketChanges", () => {
  test("a basket that did not change has no changes", () => {
    const lines = [line("a", 1, "2.00"), line("b", 3, "4.00", "red")];
    expect(kinds(lines, [...lines].toReversed())).toEqual([
      ["a", "same"],
      ["b", "same"],
    ]);
  });

  test("a changed quantity or price, a new line and a removed line are reported", () => {
    const before = [line("a", 1, "2.00"), line("b", 1, "4.00"), line("c", 1, "5.00")];
    const now = [line("a", 2, "2.00"), line("b", 1, "4.50"), line("d", 1, "1.00")];
    expect(kinds(now, before)).toEqual([
      ["a", "changed"],
      ["b", "changed"],
      ["d", "added"],
      ["c", "removed"],
    ]);
    expect(basketChanges(now, before)[0]?.was?.quantity).toBe(1);
  });

  test("the same product in another colour is a different item", () => {
    expect(kinds([line("a", 1, "2.00", "red")], [line("a", 1, "2.00", "blue")])).toEqual([
      ["a", "added"],
      ["a", "removed"],
    ]);
  });

  test("if two lines have the same product, the unchanged line is matched first", () => {
    const before = [line("a", 1, "2.00"), line("a", 5, "2.00")];
    expect(kinds([line("a", 5, "2.00")], before)).toEqual([
      ["a", "same"],
      ["a", "removed"],
    ]);
  });

  test("a changed name is a change", () => {
    const before = line("a", 1, "2.00");
    expect(kinds([{ ...before, name: "other" }], [before])).toEqual([["a", "changed"]]);
  });
});
