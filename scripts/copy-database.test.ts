import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { startEmbedded } from "#lib/db/embedded.ts";
import { migrate } from "#lib/db/migrate.ts";
import { createDatabase, useDatabase } from "#test/database.ts";
import { authorize, activeMandate, createBuyer } from "#test/mandates.ts";
import { moveTo } from "#test/proxy.ts";

useDatabase();
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-copy-"));
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the command. Returns its exit code and what it said. */
async function copyTo(url: string): Promise<readonly [code: number | null, said: string]> {
  const env = { ...process.env, DATABASE_URL: url, DATA_DIR: folder };
  const child = spawn(process.execPath, ["scripts/commands/copy-database.ts"], { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  return [await new Promise((resolve) => child.once("close", resolve)), said];
}

/** The rows of each table that has some, as one hash. */
async function contents(): Promise<Readonly<Record<string, string>>> {
  const tables = await database().execute<{ name: string }>(
    sql`SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations' ORDER BY 1`,
  );
  const hashes: Record<string, string> = {};
  for (const { name } of tables) {
    const rows = sql`SELECT count(*)::int AS count, md5(string_agg(t::text, '|' ORDER BY t::text COLLATE "C")) AS hash FROM ${sql.raw(name)} t`;
    const [row] = await database().execute<{ count: number; hash: string }>(rows);
    if (row!.count > 0) hashes[name] = row!.hash;
  }
  return hashes;
}

test("copies every row of the embedded database into an empty one, and nothing into one with rows", async () => {
  const embedded = await startEmbedded({ dataDir: folder });
  await migrate({ url: embedded.url, environment: "sandbox" });
  await moveTo(embedded.url);
  const buyer = await createBuyer();
  const mandateId = await activeMandate(buyer.person.credential);
  for (const amount of ["0.1", "0.2"]) await authorize(buyer, mandateId, amount);
  const before = await contents();
  expect(Object.keys(before).length).toBeGreaterThan(10);
  const target = await createDatabase({ empty: true });
  const [running, whileRunning] = await copyTo(target.url);
  expect([running, whileRunning]).toEqual([1, expect.stringContaining("Stop all processes of the service first.")]);
  await moveTo(target.url);
  await embedded.stop();

  const [code, said] = await copyTo(target.url);
  expect(said).toMatch(/Copied \d+ rows\./);
  expect(code).toBe(0);
  expect(await contents()).toEqual(before);
  await authorize(buyer, mandateId, "0.3");
  const after = await contents();
  await moveTo(target.url);
  const [again, refused] = await copyTo(target.url);
  expect([again, refused]).toEqual([1, expect.stringMatching(/The database of DATABASE_URL is not empty: "?\w+"? has rows/)]);
  expect(await contents()).toEqual(after);
  await moveTo(target.url);
  await target.drop();
});
