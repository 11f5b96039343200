import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as service from "#lib/receipts/verify-receipt.ts";
import { issue, jwks as withAnother, type Members } from "#test/receipt-issuer.ts";
import { mutate, mutation } from "#test/receipt-mutations.ts";
import { parseJson, verifyReceipt } from "../sdk/src/verify-receipt.ts";

type Vector = { readonly name: string; readonly answer: Members };
type Vectors = {
  readonly keys: unknown;
  readonly valid: readonly Vector[];
  readonly invalid: readonly (Vector & { readonly step: string })[];
};

const file = new URL("../docs/receipts/vectors.json", import.meta.url);
const { keys, valid, invalid } = parseJson(await readFile(file, "utf8")) as Vectors;

describe("the published test vectors", () => {
  it.each(valid)("pass: $name", async ({ answer }) => {
    expect(await verifyReceipt(answer, keys)).toMatchObject({ ok: true, step: "proof" in answer ? "head" : "receipt" });
  });

  it.each(invalid)("fail at $step: $name", async ({ answer, step }) => {
    expect(await verifyReceipt(answer, keys)).toMatchObject({ ok: false, step });
  });
});

describe("the verifier of the service", () => {
  const verdictOfService = async (answer: unknown, keySet: unknown): Promise<Members> => {
    const verdict = await service.verifyReceipt(answer, keySet);
    return verdict.ok ? { ok: true, step: verdict.withProof ? "head" : "receipt" } : { ok: false, step: verdict.step };
  };

  it("agrees on changed test vectors", async () => {
    const answers = fc.constantFrom(...valid.map(({ answer }) => answer));
    await fc.assert(
      fc.asyncProperty(answers, mutation, async (answer, how) => {
        const changed = mutate(answer, how);
        fc.pre(changed !== undefined);
        expect(await verifyReceipt(changed, keys)).toMatchObject(await verdictOfService(changed, keys));
      }),
      { numRuns: 2000, seed: 9162 },
    );
  });

  const jwks = { keys: withAnother.keys.slice(1) };

  it("agrees on changed claims and events that are signed", async () => {
    const kinds = fc.constantFrom("authorization" as const, "approval" as const, "execution" as const);
    const parts = fc.constantFrom("event" as const, "receipt" as const, "checkpoint" as const, "head" as const);
    const replace = (part: Members, how: Parameters<typeof mutate>[1]): void => {
      const changed = mutate(part, how);
      if (typeof changed !== "object" || changed === null || Array.isArray(changed)) return;
      for (const name of Object.keys(part)) Reflect.deleteProperty(part, name);
      Object.assign(part, changed);
    };
    await fc.assert(
      fc.asyncProperty(kinds, parts, mutation, async (kind, part, how) => {
        const answer = await issue({ kind, [part]: (one: Members) => replace(one, how) });
        expect(await verifyReceipt(answer, jwks)).toMatchObject(await verdictOfService(answer, jwks));
      }),
      { numRuns: 800, seed: 9162 },
    );
  });
});
