import { describe, expect, test } from "vitest";
import { address, one } from "#components/ui/page-query.ts";
import { newer, older } from "#components/ui/pager.tsx";

describe("the query of a page", () => {
  test("an empty value counts as absent", () => expect(one({ status: "" }, "status")).toBeUndefined());
  test("a change of one name keeps the others", () =>
    expect(address("/payments", { status: "settled", cursor: "a" }, { cursor: undefined })).toBe("/payments?status=settled"));
});

describe("paging by cursor", () => {
  const first = { status: "settled" };

  test("the link to older entries keeps the filters and stores the current page", () =>
    expect(older("/payments", first, "b")).toBe("/payments?status=settled&cursor=b&from=first"));

  test("the link to newer entries leads back through every page", () => {
    const third = { status: "settled", cursor: "c", from: ["first", "b"] };
    expect(newer("/payments", third)).toBe("/payments?status=settled&cursor=b&from=first");
    expect(newer("/payments", { status: "settled", cursor: "b", from: "first" })).toBe("/payments?status=settled");
  });

  test("an address with a cursor but without stored pages leads back to the first page", () =>
    expect(newer("/payments", { cursor: "b" })).toBe("/payments"));

  test("the first page has no link to newer entries", () => expect(newer("/payments", first)).toBeUndefined());
});
