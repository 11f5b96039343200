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

describe("the resource of a payment without a mandate", () => {
  test("is the resource whose path the payment names", () =>
    expect(paid("https://data.example.com/reports/today?full=1")).toBe("daily"));
  test("is none if the price differs", () => expect(paid("https://data.example.com/yearly", "9")).toBeUndefined());
  test("is none if the payment names no path and several resources fit", () => expect(paid(undefined)).toBeUndefined());
  test("is the only resource of the address if the payment names no path", () =>
    expect(resourceOfPayment([daily], { url: undefined, amount: "0.25" })).toBe(daily));
  test("can have any price if the seller quotes its price in each 402", () => {
    const quoted: PayableResource = { ...daily, pricing: { type: "quoted", asset: "USDC" } };
    expect(resourceOfPayment([quoted], { url: "https://data.example.com/reports/1", amount: "3" })).toBe(quoted);
  });
});
