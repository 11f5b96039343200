import type { ReactElement, ReactNode } from "react";
import { describe, expect, test } from "vitest";
import { Isolated } from "#components/ui/untrusted.tsx";
import { visible } from "#lib/visible-text.ts";
import { columnDigits, money } from "#components/ui/money.tsx";
import { isolated } from "#lib/isolated.ts";

describe("text that other people wrote", () => {
  test.each([
    "\u202E",
    "\u2066",
    "\u200F",
    "\u061C",
    "\u0000",
    "\u001B",
    "\u200B",
    "\u2060",
    "\uFEFF",
    "\u{E0041}",
    "\n",
    "\u009B",
    "\u2028",
    "\u00AD",
    "\u034F",
    "\u3164",
    "\uFE01",
    "\u{E0100}",
    "\uE000",
    "\uFFF9",
  ])("%j is made visible", (hidden) => expect(visible(`a${hidden}b`)).toBe("a\uFFFDb"));

  test.each(["Acme Supply", "38 × 90 mm", "קפה", "日本茶", "👩‍🔬 coat", "❤️ card", "café", "می‌خواهم", "ᠠ᠋"])(
    "%s stays as it is",
    (text) => expect(visible(text)).toBe(text),
  );
});

type Props = { readonly children: ReactNode };

/** The text of an element, with tags only for `bdi`. */
function markup(node: ReactNode): string {
  if (Array.isArray(node)) return node.map((one: ReactNode) => markup(one)).join("");
  if (typeof node === "string") return node;
  const { type, props } = node as ReactElement<Props>;
  if (typeof type === "function") return markup((type as (given: Props) => ReactNode)(props));
  return type === "bdi" ? `<bdi>${markup(props.children)}</bdi>` : markup(props.children);
}

test("a foreign text in a sentence is isolated, and cannot end its isolation", () => {
  const sentence = `${isolated("متجر \u2069x")} approved it, ${isolated("Ada")} did not.`;
  expect(markup(Isolated({ children: sentence }))).toBe("<bdi>متجر \uFFFDx</bdi> approved it, <bdi>Ada</bdi> did not.");
});

describe("money", () => {
  test.each([
    ["43", "43.00 USDC"],
    ["1200000.5", "1,200,000.50 USDC"],
    ["0.000001", "0.000001 USDC"],
  ])("%s is %s", (amount, text) => expect(money(amount, "USDC")).toBe(text));

  test("money has as many fraction digits as the longest amount of its column", () => {
    const digits = columnDigits(["1.25", "0.002", "3"]);
    expect(["1.25", "0.002", "3"].map((amount) => money(amount, "USDC", digits))).toEqual([
      "1.250 USDC",
      "0.002 USDC",
      "3.000 USDC",
    ]);
  });
});
