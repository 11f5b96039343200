import { expect, test } from "vitest";
import { chapters, sectionOf } from "#lib/pages/docs/reference.ts";
import { searchDocs } from "#lib/pages/docs/search-docs.ts";

const titles = (text: string) => searchDocs(text).map(({ title }) => title);

test.each([
  ["authorizePayment", "authorizePayment"],
  ["authorize payment", "authorizePayment"],
  ["AUTHORIZE", "authorizePayment"],
  ["/api/v1/payments/authorize", "authorizePayment"],
  ["create mandate", "createMandate"],
  ["emergency", "emergencyRevoke"],
])("%s finds %s first", (text, id) => {
  expect(titles(text)[0]).toBe(id);
});

test("finds operations by their fields, values and problem codes, and rules by their words", () => {
  expect(titles("idempotency_key_reused")).toContain("createMandate");
  expect(titles("perPayment")).toContain("createMandate");
  expect(searchDocs("idempotency").some(({ kind }) => kind === "Rule")).toBe(true);
});

test("every word must occur; nothing is found for no words, and for words that do not occur", () => {
  expect(titles("mandate zebra")).toEqual([]);
  expect(titles("  ")).toEqual([]);
  expect(titles("x".repeat(10_000))).toEqual([]);
  expect(titles("a").length).toBeLessThanOrEqual(30);
});

test("every section is found by its name, at its own address", () => {
  for (const { tag } of chapters()) {
    const hit = searchDocs(tag).find(({ kind, title }) => kind === "Section" && title === tag);
    expect(hit?.href).toBe(sectionOf(tag));
  }
});
