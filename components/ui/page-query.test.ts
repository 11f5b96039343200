import { describe, expect, test } from "vitest";
import { address, one } from "#components/ui/page-query.ts";
import { newer, older } from "#components/ui/pager.tsx";

describe("the query of a page", () => {
  test("an empty value counts as left out", () => expect(one({ status: "" }, "status")).toBeUndefined());
  test("changes keep the other names", () =>
    expect(address("/payments", { status: "settled", cursor: "a" }, { cursor: undefined })).toBe("/payments?status=settled"));
});

describe("paging by cursor", () => {
  const first = { status: "settled" };

  test("older keeps the filters and remembers where it came from", () =>
    expect(older("/payments", first, "b")).toBe("/payments?status=settled&cursor=b&from=first"));

  test("newer leads back through every page", () => {
    const third = { status: "settled", cursor: "c", from: ["first", "b"] };
    expect(newer("/payments", third)).toBe("/payments?status=settled&cursor=b&from=first");
    expect(newer("/payments", { status: "settled", cursor: "b", from: "first" })).toBe("/payments?status=settled");
  });

  test("a cursor without a way back leads to the first page", () =>
    expect(newer("/payments", { cursor: "b" })).toBe("/payments"));

  test("the first page has nothing newer", () => expect(newer("/payments", first)).toBeUndefined());
});
