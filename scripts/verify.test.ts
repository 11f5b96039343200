import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

type Vector = { readonly name: string; readonly step?: string; readonly answer: unknown };
const root = join(import.meta.dirname, "..");
const { keys, valid, invalid } = JSON.parse(await readFile(join(root, "docs/receipts/vectors.json"), "utf8")) as {
  readonly keys: unknown;
  readonly valid: readonly Vector[];
  readonly invalid: readonly Vector[];
};

type Run = { readonly code: number; readonly out: string; readonly err: string };

const verify = (...words: string[]): Promise<Run> =>
  new Promise((resolve) => {
    execFile(process.execPath, ["scripts/verify.ts", ...words], { cwd: root }, (error, out, err) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err }),
    );
  });

let folder: string;
let server: Server;
const save = async (name: string, value: unknown): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, typeof value === "string" ? value : JSON.stringify(value));
  return file;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "receipts-"));
  await save("keys.json", keys);
  server = createServer((request, response) =>
    request.url === "/.well-known/jwks.json" ? response.end(JSON.stringify(keys)) : response.writeHead(404).end(),
  );
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const answerOf = (name: string): unknown => valid.find((vector) => vector.name === name)?.answer;
const ofKeys = (): string => join(folder, "keys.json");

describe("npm run verify", () => {
  test("prints what a receipt proves", async () => {
    const { code, out } = await verify(await save("allow.json", answerOf("allow")), "--keys", ofKeys());
    expect(out).toMatch(
      /^https:\/\/pay\.example\.com signed this receipt on .* It states that .* it allowed a payment of 0\.5 USDC .* and its signed log contains the decision\.\n$/,
    );
    expect(code).toBe(0);
  });

  const firstOf = [...new Set(invalid.map(({ step }) => step))].map((step) => invalid.find((vector) => vector.step === step)!);
  test.each(firstOf)("prints that the step $step failed, and exits with 1", async ({ step, answer }) => {
    const { code, out } = await verify(await save(`${step}.json`, answer), "--keys", ofKeys());
    expect(out).toMatch(new RegExp(`^Not verified, at the step "${step}": [A-Z].+\\.\n$`));
    expect(code).toBe(1);
  });

  test("prints the verdict as JSON", async () => {
    const good = await verify(await save("settled.json", answerOf("execution, settled")), "--json", "--keys", ofKeys());
    expect(JSON.parse(good.out)).toMatchObject({ ok: true, withProof: true, claims: { settlement: { status: "settled" } } });
    const bad = await verify(await save("none.json", "{"), "--json", "--keys", ofKeys());
    expect(JSON.parse(bad.out)).toMatchObject({ ok: false, step: "receipt" });
    expect([good.code, bad.code]).toEqual([0, 1]);
  });

  test("fetches keys, and warns if they are from another address than the receipt", async () => {
    const file = await save("fetched.json", answerOf("without proof"));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, out, err } = await verify(file, "--keys", `${address}/.well-known/jwks.json`);
    expect(out).toContain("only the signature was checked");
    expect(err).toBe(`The keys are from ${address}. Make sure that they are the keys of https://pay.example.com.\n`);
    expect(code).toBe(0);
    const missing = await verify(file, "--keys", `${address}/keys`);
    expect(missing).toMatchObject({ code: 2, out: "" });
    expect(missing.err).toContain("answers 404");
  });

  test("explains wrong usage, and exits with 2", async () => {
    const file = await save("usage.json", answerOf("allow"));
    for (const [words, message] of [
      [[], "Name one file"],
      [[file, file, "--keys", ofKeys()], "Name one file"],
      [[file], "--keys"],
      [[file, "--keys", join(folder, "absent.json")], "The keys cannot be read"],
      [[join(folder, "absent.json"), "--keys", ofKeys()], "The answer cannot be read"],
      [[file, "--keys", "http://pay.example.com/.well-known/jwks.json"], "https only"],
      [[file, "--key", ofKeys()], "--key"],
    ] as const) {
      const { code, out, err } = await verify(...words);
      expect(err).toContain(message);
      expect(err).toContain("Usage: npm run verify");
      expect({ code, out }).toEqual({ code: 2, out: "" });
    }
  });
});
