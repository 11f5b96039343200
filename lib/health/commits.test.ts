import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { closePools, mainPool } from "#lib/db/client.ts";
import { startEmbedded, type Postgres } from "#lib/db/embedded.ts";
import { migrate } from "#lib/db/migrate.ts";
import { checkReadinessOfPages } from "#lib/health/check-readiness-of-pages.ts";
import { checkReadinessOfService } from "#lib/health/check-readiness-of-service.ts";
import * as contract from "#lib/health/contract.ts";
import { watchPages } from "#lib/health/lifecycle.ts";
import { forgetOldCommits } from "#lib/health/replication.ts";
import { forget } from "#lib/process.ts";
import { useSettlement } from "#test/payments.ts";
import { send } from "#test/tenant.ts";

/* A server of its own, that can be made to commit nothing. */

useSettlement();

let folder: string;
let server: Postgres;
let admin: postgres.Sql;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-commits-"));
  server = await startEmbedded({ dataDir: folder });
  await migrate({ url: server.url, environment: "sandbox" });
  process.env["DATABASE_URL"] = server.url;
  forget("env");
  const connection = { synchronous_commit: "local", default_transaction_read_only: false };
  admin = postgres(server.url, { max: 1, connection, onnotice: () => {} });
  watchPages(() => true);
});
afterAll(async () => {
  await closePools();
  await admin.end();
  await server.stop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  await mend();
  forget("health/probes", "health/commits", "db/connections/commits");
  await admin`DELETE FROM process_commits`;
});

const ready = () => send(contract.checkReadinessOfService, checkReadinessOfService);
const pages = () => send(contract.checkReadinessOfPages, checkReadinessOfPages);
const patiently = { timeout: 30_000, interval: 250 };

async function configure(setting: string): Promise<void> {
  await admin.unsafe(`ALTER SYSTEM ${setting}`);
  await admin`SELECT pg_reload_conf()`;
}

async function mend(): Promise<void> {
  for (const setting of ["synchronous_standby_names", "default_transaction_read_only"]) await configure(`RESET ${setting}`);
}

const rows = () => admin<{ at: string }[]>`SELECT process_id, committed_at::text AS at FROM process_commits`;
const waiting = async () => (await admin`SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`).length;

/** Makes the server commit nothing, checks what readiness says, and mends the server. */
async function without(setting: string, value: string, because: string): Promise<void> {
  expect((await ready()).status).toBe(200);
  await configure(`SET ${setting} = ${value}`);
  await expect
    .poll(async () => (await ready()).problem?.detail, patiently)
    .toBe(`The service is not ready: commits. Nothing can be saved, because ${because}. Still working: reads, pages.`);
  const { status, data } = await pages();
  expect([status, data.checks.filter((check) => check.status !== "ready")]).toEqual([
    200,
    [{ name: "commits", status: "degraded" }],
  ]);
  for (let round = 0; round < 4; round += 1) {
    await Promise.all([ready(), pages()]);
    expect(await waiting()).toBeLessThanOrEqual(1);
    await pause(200);
  }
  await mend();
  await expect.poll(async () => (await ready()).status, patiently).toBe(200);
  expect(await rows()).toHaveLength(1);
}

describe("commits", () => {
  test("fail while no standby answers, and pages stay ready", () =>
    without("synchronous_standby_names", "'away'", "no standby that synchronous_standby_names counts answers, so COMMIT waits"));

  test("do not hide that pages work while all connections of the process wait for COMMIT", async () => {
    await configure("SET synchronous_standby_names = 'away'");
    const mended = new AbortController();
    const writing = Array.from({ length: 24 }, async () => {
      const insert = () => mainPool().sql`INSERT INTO process_commits VALUES (${crypto.randomUUID()}, clock_timestamp())`;
      while (!mended.signal.aborted) await insert().catch(() => {});
    });
    const detail = async () => (await ready()).problem?.detail ?? "";
    await expect
      .poll(detail, patiently)
      .toMatch(
        /database, .*because no standby that synchronous_standby_names counts answers, so COMMIT waits. Still working: pages/,
      );
    expect((await pages()).status).toBe(200);
    mended.abort();
    await mend();
    await Promise.all(writing);
    await expect.poll(async () => (await ready()).status, patiently).toBe(200);
  });

  test("fail while the database is read-only, and pages stay ready", () =>
    without("default_transaction_read_only", "on", "the database is read-only"));

  test("are seen in what the process commits anyway: it then writes no row", async () => {
    await admin`CREATE TABLE written (id int)`;
    await mainPool().begin((sql) => sql`INSERT INTO written VALUES (1)`);
    expect((await ready()).status).toBe(200);
    expect(await rows()).toEqual([]);
  });

  test("are tried at most once in five seconds while nothing else is committed", async () => {
    const written = new Set<string>();
    for (const until = performance.now() + 6_000; performance.now() < until;) {
      await Promise.all(Array.from({ length: 10 }, ready));
      for (const { at } of await rows()) written.add(at);
      await pause(50);
    }
    expect(written.size).toBeGreaterThan(0);
    expect(written.size).toBeLessThan(3);
  });

  test("are tried at once when PostgreSQL has refused a write", async () => {
    await ready();
    const before = await rows();
    await pause(1_100);
    const refused = mainPool().sql.unsafe("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '53100'; END $$");
    await expect(Promise.resolve(refused)).rejects.toThrow("no");
    expect((await ready()).status).toBe(200);
    expect(await rows()).not.toEqual(before);
  });

  test("leave a row of each process, which is deleted after a day", async () => {
    await admin`INSERT INTO process_commits VALUES ('ended', clock_timestamp() - interval '25 hours')`;
    await ready();
    expect(await forgetOldCommits()).toBe(1);
    expect(await rows()).toHaveLength(1);
  });
});
