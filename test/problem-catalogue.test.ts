import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { operations } from "#lib/operations/operations.ts";
import { Problem, problemBody, problems, type ProblemCode } from "#lib/problem.ts";
import { failureCodes } from "#lib/x402/failure.ts";

const root = join(import.meta.dirname, "..");
const sources = (await Array.fromAsync(glob("{lib,app}/**/*.{ts,tsx}", { cwd: root }))).filter(
  (file) => !file.includes(".test.") && file !== "lib/vocabulary.ts",
);
const text = (await Promise.all(sources.map((file) => readFile(join(root, file), "utf8"))))
  .join("\n")
  // The list itself is removed, because the codes that are found are compared with it.
  .replace(/export const failureCodes = \[[^\]]*\]/, "");

const thrown = new Set([...text.matchAll(/new Problem\(\s*"([a-z_]+)"/g)].map((match) => match[1] ?? ""));
const failing = failureCodes.filter((code) => text.includes(`"${code}"`));

describe("the problem catalogue", () => {
  test("every entry is thrown, or is the failure code of an execution", () => {
    const used = new Set<string>([...thrown, ...failing]);
    expect(Object.keys(problems).filter((code) => !used.has(code))).toEqual([]);
  });

  test("every thrown code and every failure has an entry", () => {
    expect([...thrown, ...failureCodes].filter((code) => !Object.hasOwn(problems, code))).toEqual([]);
  });

  test("this test finds all codes: a code that is not written as text is a failure code", () => {
    const computed = [...text.matchAll(/new Problem\(\s*([^"\s].{0,60})/g)].map((match) => match[1] ?? "");
    expect(computed.filter((expression) => !/failure/i.test(expression))).toEqual([]);
  });

  test("every problem says what to do next, in words", () => {
    for (const code of Object.keys(problems) as ProblemCode[]) {
      const { nextActions } = problemBody(new Problem(code, { detail: "Why.", nextActions: [] }), "req_1");
      expect(nextActions.length, code).toBeGreaterThan(0);
      for (const { label } of nextActions) expect(label, code).toMatch(/^[A-Z][a-z].{5,}/);
    }
  });

  test("every problem that an operation names has an entry", () => {
    const named = operations.flatMap((one) => one.problems);
    expect(named.filter((code) => !Object.hasOwn(problems, code))).toEqual([]);
  });
});
