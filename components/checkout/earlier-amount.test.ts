import { expect, test } from "vitest";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { earlierAmount } from "./earlier-amount.ts";

type Seen = Pick<CheckoutView, "amounts" | "before">;

const seen = (total: string, charged: string, displayAmount?: string): Seen =>
  ({ amounts: { total, charged }, ...(displayAmount !== undefined && { before: { displayAmount } }) }) as Seen;

const now = seen("43.00 USDC", "43.43 USDC");

test("the earlier total of this page is shown only if it differs from the total now", () => {
  expect(earlierAmount(now, undefined)).toBeUndefined();
  expect(earlierAmount(now, seen("43.00 USDC", "43.43 USDC"))).toBeUndefined();
  expect(earlierAmount(now, seen("40.00 USDC", "40.40 USDC"))).toEqual({ amount: "40.40 USDC", what: "total" });
});

test("the price of an earlier visit, which lacks the fee, is compared with the price now", () => {
  expect(earlierAmount(seen("43.00 USDC", "43.43 USDC", "43.00 USDC"), undefined)).toBeUndefined();
  const earlier = { amount: "43.43 USDC", what: "price" };
  expect(earlierAmount(seen("43.00 USDC", "43.43 USDC", "43.43 USDC"), undefined)).toEqual(earlier);
  expect(earlierAmount(seen("43.00 USDC", "43.43 USDC", "40.00 USDC"), undefined)?.amount).toBe("40.00 USDC");
});
