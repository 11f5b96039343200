import type { ReactElement } from "react";
import { expect, test } from "vitest";
import { Dated } from "#components/ui/dated.tsx";

/** The three parts of a text that contains a time: the text before, the time, and the text after. */
const partsOf = (text: string) => {
  const { props } = Dated({ children: text }) as ReactElement<{ children: readonly ReactElement[] }>;
  return props.children.map((part) => part.props);
};

test("shows the time in a reason in the reader's format and keeps the rest", () => {
  expect(partsOf("Valid until 2019-11-23T01:53:03.551Z. Ask again.")).toEqual([
    { children: "Valid until " },
    { at: "2019-11-23T01:53:03.551Z", show: "minute" },
    { children: ". Ask again." },
  ]);
  expect(Dated({ children: "The mandate is active." }).props).toEqual({ children: "The mandate is active." });
});

test("shows text that only looks like a time unchanged", () => {
  expect(partsOf("Registered is 2026-99-99T99:99:99.999Z.")).toEqual([
    { children: "Registered is " },
    { children: "2026-99-99T99:99:99.999Z" },
    { children: "." },
  ]);
});
