import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { closePools, lastCommits, mainPool } from "#lib/db/client.ts";
import { startEmbedded, type Postgres } from "#lib/db/embedded.ts";
import { connectionEnded, outcomeUnknown } from "#lib/db/failure.ts";
import { forget } from "#lib/process.ts";

/* A primary whose only synchronous standby is away: each COMMIT waits for the standby until somebody cancels the wait. */

let folder: string;
let server: Postgres;
let admin: postgres.Sql;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-standby-"));
  server = await startEmbedded({ dataDir: folder });
  process.env["DATABASE_URL"] = server.url;
  forget("env");
  admin = postgres(server.url, { max: 1, connection: { synchronous_commit: "local" }, onnotice: () => {} });
  await admin`CREATE TABLE written (name text PRIMARY KEY)`;
  await admin`ALTER SYSTEM SET synchronous_standby_names = 'away'`;
  await admin`SELECT pg_reload_conf()`;
});
afterAll(async () => {
  await closePools();
  await admin.end();
  await server.stop();
  await rm(folder, { recursive: true });
});

/** Cancels the wait for the standby. Returns what the work came to. */
async function canceled<T>(work: Promise<T>): Promise<T> {
  const waiting = () => admin<{ pid: number }[]>`SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  await expect.poll(waiting, { interval: 20 }).toHaveLength(1);
  for (const { pid } of await waiting()) await admin`SELECT pg_cancel_backend(${pid})`;
  return work;
}

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test("a commit is unknown, and not a success, if its wait for a standby was canceled", async () => {
  const error = await canceled(errorOf(mainPool().begin((sql) => sql`INSERT INTO written VALUES ('in a transaction')`)));
  expect(outcomeUnknown(error)).toBe(true);
});

test("a single statement that writes is unknown then too", async () => {
  const error = await canceled(errorOf(mainPool().sql`INSERT INTO written VALUES ('alone')`));
  expect(outcomeUnknown(error)).toBe(true);
});

test("statements that are sent together with their COMMIT fail as those of an ended connection", async () => {
  const together = mainPool().use((sql) =>
    Promise.all([sql`BEGIN`, sql`INSERT INTO written VALUES ('together')`, sql`COMMIT`].map(errorOf)),
  );
  expect((await canceled(together)).map(connectionEnded)).toContain(true);
});

test("a canceled wait is no sign that the server commits", async () => {
  const before = lastCommits().committedAt;
  await canceled(errorOf(mainPool().begin((sql) => sql`INSERT INTO written VALUES ('no sign')`)));
  await canceled(errorOf(mainPool().sql`UPDATE written SET name = 'still none' WHERE name = 'no sign'`));
  await canceled(errorOf(mainPool().sql`DELETE FROM written WHERE name = 'still none'`));
  expect(lastCommits().committedAt).toBe(before);
});

test("all of it was committed on the primary, so the outcome was not known, and the next connection works", async () => {
  expect(await mainPool().sql`SELECT name FROM written ORDER BY name`).toEqual([
    { name: "alone" },
    { name: "in a transaction" },
    { name: "together" },
  ]);
});

test("a process that ends leaves no server process that waits", async () => {
  const waiting = () => admin`SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  const written = errorOf(mainPool().sql`INSERT INTO written VALUES ('at the end')`);
  await expect.poll(waiting, { interval: 20 }).toHaveLength(1);
  await closePools();
  expect(outcomeUnknown(await written)).toBe(true);
  await expect.poll(waiting, { interval: 20, timeout: 10_000 }).toEqual([]);
});

test("a server that warns of something else is used", async () => {
  const [before] = await admin<{ version: string | null }[]>`
    SELECT datcollversion AS version FROM pg_database WHERE datname = current_database()`;
  await admin`UPDATE pg_database SET datcollversion = '0' WHERE datname = current_database()`;
  await closePools();
  // PostgreSQL warns of the collation when a connection is opened.
  expect(await mainPool().sql`SELECT 1 AS one`).toEqual([{ one: 1 }]);
  await mainPool().sql`DO $$ BEGIN RAISE WARNING 'database must be vacuumed'; END $$`;
  await admin`UPDATE pg_database SET datcollversion = ${before!.version} WHERE datname = current_database()`;
});
