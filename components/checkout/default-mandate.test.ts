import { expect, test } from "vitest";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { defaultMandate, selectedMandate } from "./default-mandate.ts";

/** A view of which only these parts matter here: the mandate that the checkout names, and the mandates of the page. */
const viewOf = (mandates: readonly { mandateId: string; match: boolean }[], named?: string) =>
  ({ intent: { ...(named !== undefined && { mandateId: named }) }, mandates }) as unknown as CheckoutView;

const day = { mandateId: "mdt_day", match: true };
const trip = { mandateId: "mdt_trip", match: true };
const empty = { mandateId: "mdt_empty", match: false };

test("selects the named mandate or, if none is named, the only mandate that allows the payment", () => {
  expect(defaultMandate(viewOf([day, trip], "mdt_trip"))).toBe("mdt_trip");
  expect(defaultMandate(viewOf([day, empty]))).toBe("mdt_day");
  expect(defaultMandate(viewOf([day, trip]))).toBeUndefined();
});

test("a person's choice stays while the page shows that mandate", () => {
  expect(selectedMandate(viewOf([day, trip]), "mdt_trip")).toBe("mdt_trip");
});

test("if a refresh leaves one mandate that allows the payment, it is selected", () => {
  expect(selectedMandate(viewOf([day, empty]), undefined)).toBe("mdt_day");
  expect(selectedMandate(viewOf([day]), "mdt_trip")).toBe("mdt_day");
});
