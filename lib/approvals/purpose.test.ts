import { expect, test } from "vitest";
import { PURPOSE_MAX, purposeOf } from "#lib/approvals/purpose.ts";

test.each([
  ["no metadata", null],
  ["no purpose", { order: "42" }],
  ["a purpose that is not text", { purpose: { text: "Gift" } }],
  ["an empty purpose", { purpose: " \n " }],
])("%s is not used as a purpose", (_, metadata) => {
  expect(purposeOf(metadata)).toBeUndefined();
});

test("a purpose is one line of at most 140 characters", () => {
  expect(purposeOf({ purpose: " Welcome gift\nfor the\tteam. " })).toBe("Welcome gift for the team.");
  expect(purposeOf({ purpose: "x".repeat(PURPOSE_MAX) })).toBe("x".repeat(PURPOSE_MAX));
  expect(purposeOf({ purpose: "x".repeat(10_000) })).toBe(`${"x".repeat(PURPOSE_MAX - 1)}…`);
  expect([...(purposeOf({ purpose: "🎁".repeat(200) }) ?? "")]).toHaveLength(PURPOSE_MAX);
});
