import { expect, test } from "vitest";
import { purchases } from "../sdk/src/cli/pay-here.ts";

/* The payments of `countersign mcp` from the wallet of this machine. */

const args = { url: "https://seller.example.com/report", mandateId: "mdt_1" };
const named = { ...args, method: "POST", body: { size: "s", of: [{ a: 1, b: 2 }] }, purchaseId: "k" };
const reversed = {
  purchaseId: "k",
  body: { of: [{ b: 2, a: 1 }], size: "s" },
  method: "POST",
  mandateId: "mdt_1",
  url: args.url,
};

test("calls whose members have another order are the same purchase, also after a restart", () => {
  const purchaseOf = purchases();
  expect(purchaseOf(reversed)).toBe(purchaseOf(named));
  expect(purchases()(reversed).operation).toBe(purchaseOf(named).operation);
});

test.each([{ method: "GET" }, { method: undefined }, { purpose: undefined, purchaseId: undefined }])(
  "a call is the same purchase with a member that says the same as its absence: %j",
  (more) => {
    const purchaseOf = purchases();
    expect(purchaseOf({ ...args, ...more } as typeof args)).toBe(purchaseOf(args));
  },
);

test.each([{ method: "POST" }, { body: null }, { purpose: "a test" }])(
  "a call with another member is another purchase: %j",
  (more) => {
    const purchaseOf = purchases();
    expect(purchaseOf({ ...args, ...more })).not.toBe(purchaseOf(args));
  },
);

test("the order of a list in the body makes another purchase", () => {
  const purchaseOf = purchases();
  expect(purchaseOf({ ...named, body: [1, 2] })).not.toBe(purchaseOf({ ...named, body: [2, 1] }));
});
