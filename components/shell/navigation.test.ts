import { expect, test } from "vitest";
import { entries } from "#components/shell/navigation.ts";

test("every page has one place in the menu", () => {
  const hrefs = entries.map(({ href }) => href);
  expect(hrefs).toEqual([...new Set(hrefs)]);
});
