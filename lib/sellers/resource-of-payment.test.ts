import { describe, expect, test } from "vitest";
import { resourceOfPayment, type PayableResource } from "#lib/sellers/resource-of-payment.ts";

const resource = (resourceId: string, pathTemplate: string, amount = "0.25"): PayableResource => ({
  sellerId: "sel_1",
  resourceId,
  pathTemplate,
  pricing: { type: "fixed", amount, asset: "USDC" },
});

const daily = resource("daily", "/reports/{date}");
const yearly = resource("yearly", "/yearly");
const paid = (url: string | undefined, amount = "0.25") => resourceOfPayment([daily, yearly], { url, amount })?.resourceId;

describe("what a payment without a mandate is for", () => {
  test("the resource whose path it names", () => expect(paid("https://data.example.com/reports/today?full=1")).toBe("daily"));
  test("none where the price is another", () => expect(paid("https://data.example.com/yearly", "9")).toBeUndefined());
  test("none where it names no path and several could be meant", () => expect(paid(undefined)).toBeUndefined());
  test("the only one, without a path", () => expect(resourceOfPayment([daily], { url: undefined, amount: "0.25" })).toBe(daily));
  test("a quoted price can be any", () => {
    const quoted: PayableResource = { ...daily, pricing: { type: "quoted", asset: "USDC" } };
    expect(resourceOfPayment([quoted], { url: "https://data.example.com/reports/1", amount: "3" })).toBe(quoted);
  });
});
