import { readFile, rm, mkdtemp, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "#test/database.ts";
import { RUN_MS } from "#test/run-time.ts";
import { command, hashOf, installServer, listening, packServer } from "#test/server-package.ts";

let folder = "";
let installed = "";
let work = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-install-"));
  work = join(folder, "work");
  await mkdir(work);
  installed = await installServer(await packServer(folder), join(folder, "installed"), ["--offline", "--omit=optional"]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = async (words: readonly string[], more = {}) => {
  const started = command(installed, words, { cwd: work, variables: { ...variables, ...more } });
  return [await started.ended, started.said()];
};

/** The variables of another installation must not count. */
const secrets = { BETTER_AUTH_SECRET: "", API_KEY_SECRET: "", SETTLEMENT_PRIVATE_KEY: "", AUDIT_SIGNING_KEY: "" };
const variables = { ENVIRONMENT: "sandbox", BASE_URL: "", PORT: "0", DATABASE_URL: "", CHAINS: "", ...secrets };

describe("the package countersign-server", () => {
  test("serves API and pages with a database of its own choice, without a build and without a change to its files", async () => {
    const before = await hashOf(installed);
    const database = await createDatabase({ empty: true });
    const start = command(installed, ["start"], { cwd: work, variables: { ...variables, DATABASE_URL: database.url } });
    const url = await listening(start);
    // On a busy machine the pages may start later than a request waits.
    await expect.poll(async () => (await fetch(`${url}/api/v1/health/pages`)).status, { timeout: RUN_MS }).toBe(200);
    const page = await fetch(`${url}/sign-in`);
    const text = await page.text();
    expect([page.status, text]).toEqual([200, expect.stringContaining("</html>")]);
    const [script = ""] = /\/_next\/static\/[^"]+\.js/.exec(text) ?? [];
    for (const [path, type] of [
      [script, "application/javascript"],
      ["/icons/192.png", "image/png"],
      ["/docs/quickstart", "text/html"],
      ["/api/v1/openapi.json", "application/json"],
      ["/api/v1/health/ready", "application/json"],
    ] as const) {
      const { status, headers } = await fetch(url + path);
      expect([path, status, headers.get("content-type")]).toEqual([path, 200, expect.stringContaining(type)]);
    }
    start.child.kill("SIGTERM");
    expect(await start.ended).toBe(0);
    expect(start.said()).toContain("Stopped.");
    expect(start.said()).not.toContain("building");
    expect(await hashOf(installed)).toBe(before);
    await database.drop();
  });

  test("stops the service if the command is killed", async () => {
    const database = await createDatabase();
    const start = command(installed, ["start", "--api"], { cwd: work, variables: { ...variables, DATABASE_URL: database.url } });
    const url = await listening(start);
    start.child.kill("SIGKILL");
    const answers = () =>
      fetch(`${url}/api/v1/health/live`).then(
        () => true,
        () => false,
      );
    await expect.poll(answers).toBe(false);
    await database.drop();
  });

  test("migrates by a command, and says what is missing", async () => {
    const database = await createDatabase({ empty: true });
    expect(await run(["migrate"], { DATABASE_URL: database.url })).toEqual([
      0,
      expect.stringMatching(/Applied [1-9]\d* migrations/),
    ]);
    expect(await run(["migrate"], { DATABASE_URL: database.url })).toEqual([0, expect.stringContaining("Applied 0 migrations")]);
    expect(await run(["restored"], { DATABASE_URL: database.url })).toEqual([0, expect.stringContaining("nothing to accept")]);
    expect(await run(["migrate"])).toEqual([1, expect.stringContaining("Set DATABASE_URL.")]);
    expect(await run(["migrate"], { DATABASE_URL: database.url, ENVIRONMENT: "" })).toEqual([
      1,
      expect.stringContaining("Set ENVIRONMENT to production or sandbox. A new database belongs to it for good."),
    ]);
    expect(await run(["start", "--help"])).toEqual([0, expect.stringContaining("serves on port 3000")]);
    expect(await run(["start"])).toEqual([1, expect.stringContaining("Set DATABASE_URL to a PostgreSQL server.")]);
    expect(await run(["nonsense"])).toEqual([1, expect.stringContaining("Usage: countersign-server <command>")]);
    const { version } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as { version: string };
    expect(await run(["--version"])).toEqual([0, `${version}\n`]);
    await database.drop();
  });

  test("replaces the code for the first admin in production, as often as asked, and refuses in a sandbox", async () => {
    const database = await createDatabase({ empty: true });
    const asset = {
      asset: "USDC",
      tokenAddress: `0x${"11".repeat(20)}`,
      tokenName: "USD Coin",
      tokenVersion: "2",
      tokenDecimals: 6,
    };
    const production = {
      ENVIRONMENT: "production",
      BASE_URL: "https://pay.example.com",
      DATABASE_URL: database.url,
      BETTER_AUTH_SECRET: "kJ8x2Lq9Zr4Tn7Wv1Yb6Hc3Mf5Pd0Gs8",
      API_KEY_SECRET: "aQ7w3Er9Ty2Ui6Op4As8Df1Gh5Jk0Lz3",
      AUDIT_SIGNING_KEY: "c2lnbnMgdGhlIGNoZWNrcG9pbnRzIG9mIHRlc3RzISE",
      SETTLEMENT_PRIVATE_KEY: `0x${"a1".repeat(32)}`,
      CHAINS: JSON.stringify([{ chain: "eip155:8453", rpcUrl: "https://rpc.example", confirmations: 2, assets: [asset] }]),
    };
    expect((await run(["migrate"], production))[0]).toBe(0);
    const codes = [await run(["setup-code"], production), await run(["setup-code"], production)];
    for (const code of codes) expect(code).toEqual([0, expect.stringMatching(/^([0-9A-Z]{4}-){5}[0-9A-Z]{4}\n$/)]);
    expect(codes[0]![1]).not.toBe(codes[1]![1]);
    expect(await run(["setup-code"])).toEqual([
      1,
      expect.stringContaining("Set DATABASE_URL to the database of the installation."),
    ]);
    const sandbox = await createDatabase();
    expect(await run(["setup-code"], { DATABASE_URL: sandbox.url })).toEqual([1, expect.stringContaining("only in production")]);
    await Promise.all([database.drop(), sandbox.drop()]);
  });
});
