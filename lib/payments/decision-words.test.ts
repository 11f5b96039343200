import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { failures, isFailure, ruleName, rules } from "#lib/payments/decision-words.ts";
import { failureCodes } from "#lib/x402/failure.ts";

const SENTENCE = /^[A-Z][^!]*[.]$/;

describe("words for decisions", () => {
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
