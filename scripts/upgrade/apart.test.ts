import { expect, test } from "vitest";
import { apart } from "./apart.ts";

const session = (capabilities: readonly string[], more: object = {}) => ({
  status: 200,
  text: JSON.stringify({ user: "Ada", capabilities, ...more }),
});
const before = session(["audit:read", "payments:read", "sellers:read"]);

test.each([
  ["the same ones", ["audit:read", "payments:read", "sellers:read"]],
  ["one at the beginning", ["accounts:read", "audit:read", "payments:read", "sellers:read"]],
  ["one between others", ["audit:read", "payments:read", "payments:record", "sellers:read"]],
  ["two at the end", ["audit:read", "payments:read", "sellers:read", "sellers:write", "webhooks:read"]],
])("a set may have %s", (_what, capabilities) => {
  expect(apart(before, session(capabilities), "capabilities")).toBeNull();
});

test.each([
  ["a removed word", session(["audit:read", "sellers:read"])],
  ["a changed word", session(["audit:read", "payments:record", "sellers:read"])],
  ["another order", session(["payments:read", "audit:read", "sellers:read"])],
  ["no word", session([])],
  ["a member beside it", session(["audit:read", "payments:read", "sellers:read"], { planted: true })],
  ["another status", { ...before, status: 201 }],
])("%s is found", (_what, after) => {
  expect(apart(before, after, "capabilities")).not.toBeNull();
});

test("what is added to a list that is no set is found", () => {
  expect(apart(before, session(["audit:read", "payments:read", "payments:record", "sellers:read"]))).not.toBeNull();
});
