import { expect, test } from "vitest";
import { PATH_VALUE } from "./path-value.ts";

const isAllowed = (value: string): boolean => new RegExp(`^(?:${PATH_VALUE})$`, "v").test(value);

test.each(["mdt_1", "...", ".a", "a.", " mdt_1 ", "a b", "%2e"])("%j can be sent in a path", (value) => {
  expect(isAllowed(value)).toBe(true);
  const path = `/api/v1/mandates/${encodeURIComponent(value.trim())}`;
  expect(new URL(path, "http://localhost").pathname).toBe(path);
});

test.each([".", "..", " .. ", ". ", " "])("%j cannot be sent in a path", (value) => expect(isAllowed(value)).toBe(false));
