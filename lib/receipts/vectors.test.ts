import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { parseStrictJson } from "#lib/receipts/strict-json.ts";
import { verifyReceipt } from "#lib/receipts/verify-receipt.ts";

type Vector = { readonly name: string; readonly answer: { readonly proof?: unknown } };
type Vectors = {
  readonly keys: unknown;
  readonly valid: readonly Vector[];
  readonly invalid: readonly (Vector & { readonly step: string })[];
};

const text = await readFile(new URL("../../docs/receipts/vectors.json", import.meta.url), "utf8");
const { keys, valid, invalid } = parseStrictJson(text) as Vectors;

describe("the published test vectors", () => {
  test.each(valid)("verifies: $name", async ({ answer }) => {
    expect(await verifyReceipt(answer, keys)).toMatchObject({ ok: true, withProof: answer.proof !== undefined });
  });

  test.each(invalid)("fails at $step: $name", async ({ answer, step }) => {
    const verdict = await verifyReceipt(answer, keys);
    expect(verdict).toMatchObject({ ok: false, step });
    expect(verdict.ok ? "" : verdict.detail).toMatch(/^[A-Z][^\n]+\.$/);
  });

  test("cover every step, and each has a different name", () => {
    expect(valid.length).toBeGreaterThanOrEqual(8);
    expect(invalid.length).toBeGreaterThanOrEqual(30);
    expect(new Set(invalid.map(({ step }) => step)).size).toBe(6);
    const names = [...valid, ...invalid].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
