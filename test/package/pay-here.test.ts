import { expect, test } from "vitest";
import { visibleLines } from "#lib/visible-text.ts";
import { purchases, shown } from "../../sdk/src/cli/pay-here.ts";

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

test("the text of a seller has no character that controls a terminal or hides, as in answers of the service", () => {
  const every = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code)).join("");
  for (let at = 0; at < every.length; at += 500_000) {
    const part = every.slice(at, at + 500_000);
    expect(shown({ text: part }).text === visibleLines(part)).toBe(true);
  }
  expect(shown({ text: "a\u001B[31m\u0007\u202Eb\n" }).text).toBe("a\uFFFD[31m\uFFFD\uFFFDb\n");
});
