import { expect, test } from "vitest";
import { denialActions, denials, isDenial } from "#lib/mandates/policy/denials.ts";
import { DenialCode } from "#lib/vocabulary.ts";

const SENTENCE = /^[A-Z][^!]*[.]$/;

test.each(DenialCode.options)("%s is explained in sentences and has a next action", (code) => {
  const { means, cure } = denials[code];
  expect(means).toMatch(SENTENCE);
  expect(cure).toMatch(SENTENCE);
  expect(`${means} ${cure}`).not.toMatch(/please|successful|_/i);
  expect(isDenial(code)).toBe(true);
  expect(denialActions(code).length).toBeGreaterThan(0);
});

test("no two codes have the same explanation", () => {
  expect(new Set(DenialCode.options.map((code) => denials[code].means)).size).toBe(DenialCode.options.length);
});
