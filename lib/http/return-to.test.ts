import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { returnTo, withReturnTo } from "#lib/http/return-to.ts";

const elsewhere = [
  "//evil.example",
  "//evil.example/checkout/cki_1",
  "///evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "/%5cevil.example",
  "/%5Cevil.example",
  "/%2fevil.example",
  "/%2F%2Fevil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "/%09/evil.example",
  "/%0d%0aLocation:%20https://evil.example",
  " //evil.example",
  "/.//evil.example",
  "/x/..//evil.example",
  "https://evil.example",
  "https:evil.example",
  "http://localhost:3000.evil.example/",
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "evil.example",
  "@evil.example",
  "./checkout",
  "?returnTo=//evil.example",
  "#//evil.example",
  "/api/auth/sign-out",
  "/API/v1/auth/session",
  "/_next/static/x.js",
  "",
  `/${"a".repeat(2_048)}`,
];

describe("returnTo", () => {
  test.each(elsewhere)("%j leads to the fallback", (given) => expect(returnTo(given, "/start")).toBe("/start"));

  test.each([
    "/",
    "/checkout/cki_01k9x4r7h2m8v0c3e5t6q1n9zb",
    "/onboarding?returnTo=/checkout/cki_1",
    "/a?b=c#d",
    "/onboarding?returnTo=%2Fcheckout%2Fcki_1",
  ])("%s is a page of this service", (given) => expect(returnTo(given)).toBe(given));

  test("a parameter that is given twice is ignored", () => expect(returnTo(["/a", "/b"])).toBe("/"));
  test("a missing parameter leads to the fallback", () => expect(returnTo(undefined, "/start")).toBe("/start"));

  test("a browser stays on this service's origin with any value", () => {
    const hostile = fc.array(
      fc.constantFrom("/", "\\", "%5c", "%2f", ":", "@", ".", "\t", "evil.example", "https", "//", "?", "#"),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          hostile.map((parts) => parts.join("")),
        ),
        (given) => {
          expect(new URL(returnTo(given), "https://pay.example/sign-in").origin).toBe("https://pay.example");
        },
      ),
    );
  });

  test("the page to return to is one encoded parameter", () => {
    expect(withReturnTo("/sign-in", "/checkout/a?b=c")).toBe("/sign-in?returnTo=%2Fcheckout%2Fa%3Fb%3Dc");
    expect(withReturnTo("/sign-in", "/")).toBe("/sign-in");
    expect(returnTo(new URLSearchParams(withReturnTo("/x", "/checkout/a?b=c").slice(3)).get("returnTo") ?? "")).toBe(
      "/checkout/a?b=c",
    );
  });
});
