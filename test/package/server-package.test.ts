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

/** The variables of another installation must not count. */
const variables = { ENVIRONMENT: "sandbox", BASE_URL: "", PORT: "0", DATABASE_URL: "", CHAINS: "" };

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
    const run = async (words: readonly string[], more = {}) => {
      const started = command(installed, words, { cwd: work, variables: { ...variables, ...more } });
      return [await started.ended, started.said()];
    };
    expect(await run(["migrate"], { DATABASE_URL: database.url })).toEqual([
      0,
      expect.stringMatching(/Applied [1-9]\d* migrations/),
    ]);
    expect(await run(["migrate"], { DATABASE_URL: database.url })).toEqual([0, expect.stringContaining("Applied 0 migrations")]);
    expect(await run(["migrate"])).toEqual([1, expect.stringContaining("Set DATABASE_URL.")]);
    expect(await run(["start"])).toEqual([1, expect.stringContaining("Set DATABASE_URL to a PostgreSQL server.")]);
    expect(await run(["nonsense"])).toEqual([1, expect.stringContaining("Usage: countersign-server <command>")]);
    const { version } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as { version: string };
    expect(await run(["--version"])).toEqual([0, `${version}\n`]);
    await database.drop();
  });
});
