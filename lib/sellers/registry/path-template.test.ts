import { describe, expect, it } from "vitest";
import { PathTemplate } from "#lib/sellers/registry/path-template.ts";

describe("PathTemplate", () => {
  it.each(["/", "/reports", "/reports/daily", "/reports/{date}", "/v1/a.b_c~d-e/{a}/{b}"])("accepts %s", (path) => {
    expect(PathTemplate.safeParse(path).success).toBe(true);
  });

  it.each([
    "",
    "reports",
    "//evil.example",
    "/a//b",
    "/a/",
    "/a/../b",
    "/a/./b",
    "/..",
    "/a/%2e%2e/b",
    "/a%2fb",
    "/\\evil.com",
    "/a?b",
    "/a#b",
    "/a b",
    "/a\nb",
    "/a\0b",
    "/{}",
    "/{1a}",
    "/{a}/{a}",
    "/{a",
    "/x{a}",
    "/{station-identifier}",
    "/{a}{b}",
    "/*",
    "/ä",
    "https://example.com/a",
    `/${"a".repeat(1024)}`,
  ])("refuses %j", (path) => {
    expect(PathTemplate.safeParse(path).success).toBe(false);
  });

  it("says which characters the name of a parameter may have", () => {
    const { error } = PathTemplate.safeParse("/forecast/{station-identifier}");
    expect(error?.issues[0]?.message).toContain("A parameter's name has only letters, digits and _.");
  });
});
