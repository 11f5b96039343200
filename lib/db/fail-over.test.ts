import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { ServerConnection } from "#lib/db/connection.ts";
import { closePools, mainPool, onPrimary, watchHosts } from "#lib/db/client.ts";
import { openPrimary } from "#lib/db/connections/hosts.ts";
import { startEmbedded, type Postgres } from "#lib/db/embedded.ts";
import { databaseAway, notPrimary, outcomeUnknown, toldCauses } from "#lib/db/failure.ts";
import { forget } from "#lib/process.ts";
import { Link } from "#test/link.ts";
import { moveTo } from "#test/proxy.ts";

/* Two primaries of one system: the old one, and one that was promoted from its copy, so that its timeline is the next one. */

let folder: string;
let old: Postgres;
let promoted: Postgres;
/** Of another system, with the same password. */
let restored: Postgres;
let links: Link[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-primaries-"));
  await chmod(folder, 0o755);
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  const empty = await startEmbedded({ dataDir: first });
  await empty.stop();
  // The account of PostgreSQL keeps its files.
  await promisify(execFile)("cp", ["-a", first, second]);
  const data = join(second, "postgres", "data");
  await writeFile(join(data, "recovery.signal"), "");
  await writeFile(join(data, "postgresql.auto.conf"), "restore_command = 'false'\n", { flag: "a" });
  old = await startEmbedded({ dataDir: first });
  promoted = await startEmbedded({ dataDir: second });
  restored = await startEmbedded({ dataDir: join(folder, "restored") });
  const admin = postgres(restored.url, { max: 1 });
  await admin.unsafe(`ALTER ROLE countersign PASSWORD '${new URL(old.url).password}'`);
  await admin.end();
}, 120_000);
afterAll(async () => {
  await Promise.all([old, promoted, restored].map((server) => server.stop()));
  await rm(folder, { recursive: true });
});

/** As in a new process. */
const forgetPrimaries = (): void => forget("db/connections/timelines", "db/connections/hosts");

beforeEach(async () => {
  process.env["DATA_DIR"] = await mkdtemp(join(folder, "state-"));
  forgetPrimaries();
});
afterEach(async () => {
  await closePools();
  for (const link of links) link.close();
  links = [];
  delete process.env["DATA_DIR"];
  forgetPrimaries();
});

const portOf = (url: string): string => new URL(url).port;

/** `url` with all these hosts, each behind a link of its own. */
async function among(...urls: readonly string[]): Promise<Link[]> {
  links = await Promise.all(urls.map((url) => Link.to(url)));
  const [first = ""] = urls;
  const hosts = links.map((link) => new URL(link.through(first)).host).join();
  await moveTo(first.replace(`127.0.0.1:${portOf(first)}`, hosts));
  return links;
}

const timeline = async (): Promise<string | undefined> => {
  const [row] = await mainPool().sql<{ file: string }[]>`SELECT pg_walfile_name(pg_current_wal_lsn()) AS file`;
  return row?.file.slice(0, 8);
};
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test("of two primaries, a new process takes the one of the higher timeline", async () => {
  await among(old.url, promoted.url);
  expect(await timeline()).toBe("00000002");
  await closePools();
  forgetPrimaries();
  await among(promoted.url, old.url);
  expect(await timeline()).toBe("00000002");
});

test("a host that drops every packet, or refuses, does not keep the primary from being found", async () => {
  const [first, second] = await among(old.url, promoted.url);
  first!.freeze();
  expect(await timeline()).toBe("00000002");
  await closePools();
  forgetPrimaries();
  first!.mend();
  first!.cut();
  expect(await timeline()).toBe("00000002");
  second!.cut();
  const error = await errorOf(timeline());
  expect(databaseAway(error)).toBe(true);
  expect(toldCauses(error)).toContain("No host of DATABASE_URL is a primary.");
});

test("a process that has seen the newer primary refuses the old one, and so does a new process with the same DATA_DIR", async () => {
  const [, second] = await among(old.url, promoted.url);
  await timeline();
  second!.cut();
  await closePools();
  expect(notPrimary(await errorOf(timeline()))?.is).toBe("old primary");
  forgetPrimaries();
  await moveTo(old.url);
  expect(toldCauses(await errorOf(timeline()))).toContain("its timeline is 1, and timeline 2 was seen");
  expect(await readFile(join(process.env["DATA_DIR"]!, "timelines.json"), "utf8")).toMatch(/^\{"\d+":2\}\n$/);
});

test("a new process with an empty DATA_DIR accepts a primary that it alone can reach", async () => {
  await moveTo(old.url);
  expect(await timeline()).toBe("00000001");
});

test.each(['{"74', '{"7400000000000000000":"two"}'])(
  "a file that does not hold timelines, %j, is named until it is repaired",
  async (content) => {
    const file = join(process.env["DATA_DIR"]!, "timelines.json");
    await writeFile(file, content);
    await moveTo(old.url);
    const said = toldCauses(await errorOf(timeline()));
    expect(said).toContain(`${file} does not tell which promotions were seen.`);
    await rm(file);
    expect(await timeline()).toBe("00000001");
  },
);

test("a connection that cannot be opened ends, whatever is in the file", async () => {
  await writeFile(join(process.env["DATA_DIR"]!, "timelines.json"), "{");
  const [first, second] = await among(old.url, promoted.url);
  first!.freeze();
  second!.freeze();
  expect(databaseAway(await errorOf(timeline()))).toBe(true);
  expect((await watchHosts()).map(({ is }) => is)).toEqual(["away"]);
  first!.mend();
  second!.mend();
  await rm(join(process.env["DATA_DIR"]!, "timelines.json"));
  await watchHosts();
  expect(await timeline()).toBe("00000002");
});

test("an old primary that does not tell its timeline in time is refused", async () => {
  await among(old.url, promoted.url);
  await timeline();
  // The first statement of a connection waits for this lock until its time limit, and another one finds it free.
  const admin = postgres(old.url, { max: 1 });
  await admin.unsafe("BEGIN; LOCK TABLE pg_proc");
  const slow = { settings: { statement_timeout: 500 }, openMs: 10_000, silenceMs: 10_000 };
  const opening = errorOf(ServerConnection.open({ url: old.url, ...slow }));
  await pause(750);
  await admin.unsafe("ROLLBACK");
  await admin.end();
  expect(toldCauses(await opening)).toContain("statement timeout");
});

test("when a newer primary is found, the connections to the old one end, and what was sent there is unknown", async () => {
  const [, second] = await among(old.url, promoted.url);
  second!.cut();
  expect(await timeline()).toBe("00000001");
  await mainPool().sql`CREATE TABLE IF NOT EXISTS written (id int)`;
  const told: string[] = [];
  onPrimary(({ message }) => told.push(message));
  const writing = errorOf(mainPool().sql`INSERT INTO written SELECT 1 FROM pg_sleep(30)`);
  expect((await watchHosts()).map(({ is }) => is)).toEqual(["away"]);
  second!.mend();
  await watchHosts();
  expect(outcomeUnknown(await writing)).toBe(true);
  expect(await timeline()).toBe("00000002");
  expect(told).toEqual(["The database has a new primary: timeline 2, before it 1."]);
  expect((await watchHosts()).map(({ is }) => is)).toEqual(["old primary"]);
});

test("when one address leads to a newer primary, the connections to the old one end", async () => {
  const [link] = await among(old.url);
  expect(await timeline()).toBe("00000001");
  const writing = errorOf(mainPool().sql`INSERT INTO written SELECT 1 FROM pg_sleep(30)`);
  link!.lead(promoted.url);
  expect(await timeline()).toBe("00000002");
  expect(outcomeUnknown(await writing)).toBe(true);
  link!.lead(old.url);
  link!.reset();
  expect(notPrimary(await errorOf(timeline()))?.is).toBe("old primary");
});

test("one address may lead to another installation, as after restoring one, and several hosts are never mixed", async () => {
  const [link] = await among(promoted.url);
  expect(await timeline()).toBe("00000002");
  const told: string[] = [];
  onPrimary(({ message }) => told.push(message));
  link!.lead(restored.url);
  link!.reset();
  expect(await timeline()).toBe("00000001");
  expect(told.join()).toContain("another installation of PostgreSQL");
  await closePools();
  forgetPrimaries();
  const [first, second] = await among(promoted.url, restored.url);
  expect(notPrimary(await errorOf(timeline()))?.is).toBe("other installation");
  second!.cut();
  expect(await timeline()).toBe("00000002");
  second!.mend();
  expect((await watchHosts()).map(({ is }) => is)).toEqual(["other installation"]);
  first!.cut();
  expect(notPrimary(await errorOf(timeline()))?.is).toBe("other installation");
});

test("a silent host does not hide that the others belong to different installations", async () => {
  const [, , third] = await among(promoted.url, restored.url, promoted.url);
  third!.freeze();
  expect(notPrimary(await errorOf(timeline()))?.is).toBe("other installation");
});

test("a process that knows its primary is not kept from it by a host of another installation", async () => {
  const [first, second] = await among(promoted.url, restored.url);
  second!.cut();
  expect(await timeline()).toBe("00000002");
  second!.mend();
  await closePools();
  first!.delay(80);
  expect(await timeline()).toBe("00000002");
});

test("connections to an old primary end, also if another connection failed when the process began", async () => {
  for (const { url } of [old, promoted]) {
    const admin = postgres(url, { max: 1 });
    await admin`CREATE ROLE narrow LOGIN PASSWORD 'narrow' CONNECTION LIMIT 1`;
    await admin.end();
  }
  const narrow = (url: string): string => Object.assign(new URL(url), { username: "narrow", password: "narrow" }).href;
  const [, second] = await among(narrow(old.url), promoted.url);
  second!.freeze();
  const admin = postgres(old.url, { max: 1 });
  const isConnected = async (): Promise<boolean> =>
    (await admin`SELECT 1 FROM pg_stat_activity WHERE usename = 'narrow'`).length > 0;
  const sleeps = mainPool().sql.unsafe("SELECT pg_sleep(0.3)").execute();
  // Of two that connect at once, PostgreSQL may refuse both.
  while (!(await isConnected())) await pause(10);
  await admin.end();
  // The second one is refused by the old primary, and waits for the other host until its time is up.
  await Promise.all([sleeps, mainPool().sql.unsafe("SELECT 1")]);
  await pause(4_000);
  second!.mend();
  await watchHosts();
  expect(await timeline()).toBe("00000002");
});

test("a connection that ended while other hosts were asked is not used", async () => {
  const [first] = await among(old.url, promoted.url);
  const url = process.env["DATABASE_URL"]!;
  const options = { url, settings: {}, openMs: 10_000, silenceMs: 10_000 };
  const isOld = (host: string): boolean => host === first!.through(old.url);
  const opening = openPrimary(url, async (host) => {
    if (isOld(host)) return ServerConnection.openAt(host, options);
    await pause(1_000);
    throw new Error("This host was slower.");
  });
  await pause(150);
  const newer = await ServerConnection.openAt(links[1]!.through(promoted.url), options);
  expect(await errorOf(opening)).toBeInstanceOf(Error);
  newer.close();
});

test("a server that does not tell its timeline is accepted", async () => {
  const url = new URL(restored.url);
  const admin = postgres(Object.assign(url, { password: new URL(old.url).password }).href, { max: 1 });
  await admin`CREATE ROLE limited LOGIN PASSWORD 'limited'`;
  await admin`REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`;
  await admin.end();
  await moveTo(Object.assign(url, { username: "limited", password: "limited" }).href);
  expect(await mainPool().begin((sql) => sql`SELECT current_user AS role`)).toEqual([{ role: "limited" }]);
});

test("the attributes that libpq knows for several hosts are accepted", async () => {
  await among(old.url, promoted.url);
  await moveTo(`${process.env["DATABASE_URL"]}?target_session_attrs=read-write`);
  expect(await timeline()).toBe("00000002");
});
