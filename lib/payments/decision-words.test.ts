import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { denials, failures, isDenial, isFailure, ruleName, rules } from "#lib/payments/decision-words.ts";
import { DenialCode } from "#lib/vocabulary.ts";
import { failureCodes } from "#lib/x402/failure.ts";

const SENTENCE = /^[A-Z][^!]*[.]$/;

describe("words for decisions", () => {
  test.each(DenialCode.options)("%s is explained in sentences", (code) => {
    const { means, cure } = denials[code];
    expect(means).toMatch(SENTENCE);
    expect(cure).toMatch(SENTENCE);
    expect(`${means} ${cure}`).not.toMatch(/please|successful|_/i);
    expect(isDenial(code)).toBe(true);
  });

  test("no two codes have the same explanation", () => {
    expect(new Set(DenialCode.options.map((code) => denials[code].means)).size).toBe(DenialCode.options.length);
  });

  test.each(failureCodes)("%s is explained in sentences", (code) => {
    expect(failures[code]).toMatch(SENTENCE);
    expect(isFailure(code)).toBe(true);
  });

  test("exactly the rules that the engine evaluates have a name", async () => {
    const files = (await readdir("lib/mandates")).filter((file) => /^(rules-[a-z]+|policy)\.ts$/.test(file));
    const source = (await Promise.all(files.map((file) => readFile(`lib/mandates/${file}`, "utf8")))).join("\n");
    const denied = source.matchAll(/deny\(\s*on,\s*"[a-z_]+",\s*"([^"]+)"/g);
    const satisfied = source.matchAll(/satisfy\(\s*on,\s*"([^"]+)"/g);
    const found = new Set([...denied, ...satisfied].map(([, rule]) => rule ?? ""));
    expect([...found, "approval"].filter((rule) => !(rule in rules))).toEqual([]);
    expect(Object.keys(rules).filter((rule) => rule !== "approval" && !found.has(rule))).toEqual([]);
    expect(ruleName("limits.perPayment")).toBe("Per payment");
    expect(ruleName("limits.new")).toBe("limits.new");
  });
});
