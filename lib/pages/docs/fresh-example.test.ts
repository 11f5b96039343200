import { expect, test } from "vitest";
import { freshExample } from "#lib/pages/docs/fresh-example.ts";

test("an example gets a new expiry and new ids, and its other values stay", () => {
  const example = {
    mandateId: "mdt_1",
    intent: { intentId: "a", nonce: "b", amount: "1", expiresAt: "2020-01-01T00:00:00Z" },
    list: [1],
  };
  const expiresAt = new Date("2026-11-21T12:00:00Z");
  expect(freshExample(example, { name: "try-1", expiresAt })).toEqual({
    mandateId: "mdt_1",
    intent: { intentId: "try-1", nonce: "try-1", amount: "1", expiresAt: "2026-11-21T12:00:00.000Z" },
    list: [1],
  });
});
