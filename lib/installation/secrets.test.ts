import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readEnv } from "#lib/env.ts";
import { provideSecrets } from "#lib/installation/secrets.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "countersign-test-"));
});
afterEach(() => rm(dataDir, { recursive: true }));

type Variables = Record<string, string | undefined>;

describe("provideSecrets", () => {
  test("a sandbox makes its secrets once, strong enough and readable only for its own user", async () => {
    const first: Variables = { DATA_DIR: dataDir };
    const second: Variables = { DATA_DIR: dataDir };
    await Promise.all([provideSecrets(first), provideSecrets(second)]);
    expect(first).toEqual(second);
    expect(() => readEnv(first)).not.toThrow();
    expect((await stat(join(dataDir, "secrets.json"))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(join(dataDir, "secrets.json"), "utf8"))).toEqual({
      BETTER_AUTH_SECRET: first["BETTER_AUTH_SECRET"],
      API_KEY_SECRET: first["API_KEY_SECRET"],
      SETTLEMENT_PRIVATE_KEY: first["SETTLEMENT_PRIVATE_KEY"],
    });
  });

  test("servers that start at the same time make the secrets once, also if each is process 1 of its container", async () => {
    const started = Array.from({ length: 16 }, (): Variables => ({ DATA_DIR: dataDir }));
    await Promise.all(started.map(provideSecrets));
    for (const variables of started) expect(variables).toEqual(started[0]);
    expect((await readdir(dataDir)).toSorted()).toEqual([
      "audit-key.json",
      "contract-keys.json",
      "push-key.json",
      "secrets.json",
    ]);
  });

  test("a sandbox keeps its secrets and adds the keys of the contracts", async () => {
    const before: Variables = { DATA_DIR: dataDir };
    await provideSecrets(before);
    await rm(join(dataDir, "contract-keys.json"));
    const later: Variables = { DATA_DIR: dataDir };
    await provideSecrets(later);
    const keys = ["RELAYER_PRIVATE_KEY", "GUARDIAN_PRIVATE_KEY", "POLICY_SIGNER_PRIVATE_KEY"];
    expect(later["API_KEY_SECRET"]).toBe(before["API_KEY_SECRET"]);
    expect(new Set([...keys, "SETTLEMENT_PRIVATE_KEY"].map((name) => later[name])).size).toBe(4);
    expect(keys.every((name) => later[name] !== before[name])).toBe(true);
  });

  test("a secret in the environment has priority", async () => {
    const variables: Variables = { DATA_DIR: dataDir, API_KEY_SECRET: "given" };
    await provideSecrets(variables);
    expect(variables["API_KEY_SECRET"]).toBe("given");
  });

  test("no secrets are made in production", async () => {
    const variables: Variables = { DATA_DIR: dataDir, ENVIRONMENT: "production" };
    await provideSecrets(variables);
    expect(variables["API_KEY_SECRET"]).toBeUndefined();
    await expect(stat(join(dataDir, "secrets.json"))).rejects.toThrow("ENOENT");
  });
});
