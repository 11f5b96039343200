import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { startEmbedded } from "#lib/db/embedded.ts";
import { migrate } from "#lib/db/migrate.ts";
import { readReplication, tooFewInSync, watchReplication } from "#lib/health/replication.ts";
import { forget } from "#lib/process.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { captureLog } from "#test/logged.ts";
import { moveTo } from "#test/proxy.ts";
import { startStandby } from "#test/standby.ts";

const logged = captureLog();

let url = "";
let admin: postgres.Sql;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-replication-"));
  await chmod(folder, 0o755);
  const server = await startEmbedded({ dataDir: folder });
  url = server.url;
  await migrate({ url, environment: "sandbox" });
  admin = postgres(url, { max: 1, connection: { synchronous_commit: "local" }, onnotice: () => {} });
  await moveTo(url);
  return async () => {
    await moveTo("");
    await admin.end();
    await server.stop();
    for (const made of [server.directory, folder]) await rm(made, { recursive: true, force: true });
  };
});
beforeEach(async () => {
  await names("");
  logged.length = 0;
  forget("health/replication", "telemetry/metrics metrics");
});

async function names(value: string): Promise<void> {
  await admin.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${value}'`);
  await admin`SELECT pg_reload_conf()`;
}

async function standby(name: string) {
  const started = await startStandby(url, name);
  onTestFinished(() => started.end());
  return started;
}

const exported = async (name: string): Promise<string[]> =>
  (await metrics().registry.metrics()).split("\n").filter((line) => line.startsWith(`${name}{`));
const inSync = async () => (await readReplication()).inSync;
const said = () => logged.map(({ level, message }) => `${String(level)}: ${String(message)}`);

test("without replication there is no alarm, and no number of standbys in sync", async () => {
  const seen = await readReplication();
  expect(seen).toEqual({ role: "primary", timeline: 1, names: "", standbys: [], inSync: null });
  expect(tooFewInSync(seen)).toBe(false);
  await watchReplication();
  expect(await exported("countersign_database_timeline")).toEqual(['countersign_database_timeline{role="primary"} 1']);
  expect(await exported("countersign_database_standbys_in_sync")).toEqual([]);
});

test("an asynchronous standby is shown, and is not in sync", async () => {
  await standby("copy");
  await expect
    .poll(async () => (await readReplication()).standbys)
    .toMatchObject([{ name: "copy", address: "127.0.0.1", state: "streaming", syncState: "async", bytesBehind: 0 }]);
  expect(await inSync()).toBe(null);
});

test("the loss of one of two standbys is an alarm, which ends when another one is in sync", async () => {
  await Promise.all(["a", "b"].map(standby));
  const third = await standby("c");
  await names("ANY 1 (a, c)");
  await expect.poll(inSync).toBe(2);
  await watchReplication();
  expect(said()).toEqual([]);
  await third.end();
  await expect.poll(inSync).toBe(1);
  await watchReplication();
  await watchReplication();
  expect(said()).toEqual(["error: Fewer than two standbys are in sync"]);
  expect(await exported("countersign_database_standbys_in_sync")).toEqual([
    'countersign_database_standbys_in_sync{names="ANY 1 (a, c)"} 1',
  ]);
  // The second one of a list takes over at once if the first is lost.
  await names("FIRST 1 (a, b)");
  await expect.poll(inSync).toBe(2);
  await watchReplication();
  expect(said()).toHaveLength(2);
  expect(said()[1]).toBe("info: Enough standbys are in sync again");
});

test("a role that may not see the standbys gets no number, so that nothing looks better than it is", async () => {
  const role = new URL(url);
  [role.username, role.password] = ["viewer", "of-the-tests"];
  await admin.unsafe(
    "CREATE ROLE viewer LOGIN PASSWORD 'of-the-tests'; GRANT SELECT, INSERT, UPDATE ON process_commits TO viewer",
  );
  await names("ANY 1 (a, b)");
  await standby("a");
  await moveTo(role.href);
  const seen = await readReplication();
  expect([seen.names, seen.standbys, seen.inSync, tooFewInSync(seen)]).toEqual(["ANY 1 (a, b)", null, null, false]);
  await watchReplication();
  expect(await exported("countersign_database_standbys_in_sync")).toEqual([]);
  await admin`GRANT pg_monitor TO viewer`;
  expect(await inSync()).toBe(1);
  await moveTo(url);
});

test("a database that does not answer leaves no earlier number in the metrics", async () => {
  await watchReplication();
  await moveTo("postgres://nobody@127.0.0.1:1/none");
  await watchReplication();
  await moveTo(url);
  expect(await exported("countersign_database_timeline")).toEqual([]);
});
