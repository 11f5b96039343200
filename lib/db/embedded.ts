import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, open, readFile, realpath, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { basename, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Account, accountForPostgres, binariesFor, canReach, sharedDirectory } from "#lib/db/embedded/binaries.ts";
import { ServerConnection } from "#lib/db/connection.ts";
import { sqlState } from "#lib/db/failure.ts";

export type EmbeddedOptions = {
  readonly dataDir: string;
  /** False for tests only: commits are then fast, but a crash of the machine may destroy the data. */
  readonly durable?: boolean;
  /** Created if it does not exist. */
  readonly database?: string;
};

export type Postgres = {
  readonly url: string;
  /** Outside of dataDir if PostgreSQL's account could not reach dataDir when the files were made. */
  readonly directory: string;
  readonly startedMs: number;
  /** Stops the server unless another `startEmbedded` uses it. */
  stop(): Promise<void>;
};

/** An advisory lock that each `startEmbedded` shares; a `stop` that can take it alone stops the server. */
const IN_USE = 0x656d6264;
/** Replaying the log after a crash takes long, and so does any start on a busy machine. */
const START_LIMIT_MS = 300_000;
const STOP_LIMIT_MS = 30_000;
const REAP_LIMIT_MS = 1_000;

const settings = (port: number, durable: boolean): string[] =>
  Object.entries({
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    shared_buffers: "128MB",
    max_connections: 100,
    max_wal_size: "1GB",
    // By default, PostgreSQL fills each new log segment with zeros, which delays commits.
    wal_init_zero: "off",
    max_parallel_workers_per_gather: 0,
    jit: "off",
    timezone: "UTC",
    log_timezone: "UTC",
    ...(durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);

type Cluster = { readonly directory: string; readonly data: string; readonly password: string; readonly account: Account };

const identity = (account: Account) => (account ? { uid: account.uid, gid: account.gid } : {});

async function finished(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  return new Promise((done, fail) => child.once("exit", done).once("error", fail));
}

async function initialize(directory: string, bin: string, account: Account, durable: boolean): Promise<void> {
  const password = randomBytes(24).toString("base64url");
  const handed = join(directory, "initial-password");
  const data = join(directory, "data");
  await mkdir(data, { mode: 0o700 });
  await writeFile(handed, password, { mode: 0o600 });
  if (account) for (const path of [data, handed]) await chown(path, account.uid, account.gid);
  const options = [
    "--username=countersign",
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
    ...(durable ? [] : ["--no-sync"]),
  ];
  const locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  const child = spawn(join(bin, "initdb"), [`--pgdata=${data}`, `--pwfile=${handed}`, ...options, ...locale], {
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
    ...identity(account),
  });
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  if ((await finished(child)) !== 0) throw new Error(`The embedded PostgreSQL could not be set up: ${complaint.trim()}`);
  await rm(handed);
  await writeFile(join(directory, "password"), password, { mode: 0o600 });
}

/** Makes missing database files in a folder of another name, and moves or symlinks it to its place when complete. */
async function cluster(dataDir: string, bin: string, account: Account, durable: boolean): Promise<Cluster> {
  const place = join(dataDir, "postgres");
  if (!(await stat(place).catch(() => null))) {
    const within = await canReach(account, dataDir);
    const name = `${basename(place)}-${randomBytes(6).toString("hex")}`;
    const building = join(within ? dataDir : await sharedDirectory(), name);
    await mkdir(building, { mode: account ? 0o711 : 0o700 });
    if (account) await chmod(building, 0o711);
    try {
      await initialize(building, bin, account, durable);
      await (within ? rename(building, place) : symlink(building, place));
    } catch (error) {
      await rm(building, { recursive: true, force: true });
      // Another process that started at the same time may have made the files first.
      if (!["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
  const directory = await realpath(place);
  const password = await readFile(join(directory, "password"), "utf8").catch(() => {
    throw new Error(`The password of the embedded PostgreSQL is missing: ${join(directory, "password")}.`);
  });
  return { directory, data: join(directory, "data"), password, account };
}

const urlOf = (port: number, password: string, database: string) =>
  `postgres://countersign:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done, fail) => server.once("error", fail).listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (typeof address !== "object" || !address) throw new Error("There is no free port.");
  return address.port;
}

type Postmaster = { readonly pid: number; readonly port: number };

async function postmaster(data: string): Promise<Postmaster | null> {
  const lines = (await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return pid > 0 && port > 0 ? { pid, port } : null;
}

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The connection counts as lost if a statement gets no data for this long; longer than the lock_timeout below. */
const SILENCE_MS = 12_000;

/** Opens the connection that this process keeps while it uses the server. Returns the error if that fails. */
async function enter(port: number, { password }: Cluster, onLost: () => void): Promise<ServerConnection | Error> {
  const url = urlOf(port, password, "postgres");
  const settings = { application_name: "countersign-embedded", lock_timeout: 10_000 };
  let connection: ServerConnection | null = null;
  try {
    connection = await ServerConnection.open({ url, settings, openMs: 5_000, silenceMs: SILENCE_MS });
    await connection.sql`SELECT pg_advisory_lock_shared(${IN_USE}::bigint)`;
    connection.onEnd = onLost;
    return connection;
  } catch (error) {
    connection?.close();
    return error as Error;
  }
}

type Server = { readonly bin: string; readonly cluster: Cluster; readonly durable: boolean };

async function spawnServer({ bin, cluster: { directory, data, account }, durable }: Server, port: number): Promise<ChildProcess> {
  const log = await open(join(directory, "postgres.log"), "w", 0o600);
  try {
    // PostgreSQL gets its own session, so that Ctrl-C does not end it while this process closes.
    const child = spawn(join(bin, "postgres"), ["-D", data, ...settings(port, durable)], {
      cwd: directory,
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
      ...identity(account),
    });
    child.unref();
    return child;
  } finally {
    await log.close();
  }
}

type RunningServer = {
  readonly connection: ServerConnection;
  readonly pid: number;
  readonly port: number;
  readonly child: ChildProcess | null;
};

/** Connects to the server that already uses these files, or starts one. PostgreSQL itself replaces a stale lock file. */
async function serve(server: Server, onLost: () => void, wanted?: number): Promise<RunningServer> {
  const found = server.cluster;
  const deadline = performance.now() + START_LIMIT_MS;
  let child: ChildProcess | null = null;
  let reason = "";
  while (performance.now() < deadline) {
    const running = await postmaster(found.data);
    if (running && alive(running.pid)) {
      const connection = await enter(running.port, found, onLost);
      if (!(connection instanceof Error)) return { connection, ...running, child: child?.pid === running.pid ? child : null };
      reason = connection.message;
    }
    if (!child || child.exitCode !== null) {
      const complaint = child ? await readFile(join(found.directory, "postgres.log"), "utf8") : "";
      // Another process was first with these files or this port, or a killed server is still ending. Try again.
      if (child && !/postmaster\.pid|Address already in use|shared memory block/.test(complaint)) {
        throw new Error(`The embedded PostgreSQL did not start:\n${complaint.trim()}`);
      }
      child = await spawnServer(server, wanted ?? (await freePort()));
    }
    await pause(25);
  }
  throw new Error(`The embedded PostgreSQL in ${found.directory} did not answer in ${START_LIMIT_MS / 1000} s. ${reason}`);
}

async function leave({ connection, pid, child }: RunningServer, { data }: Cluster): Promise<void> {
  let last = false;
  const { sql } = connection;
  connection.onEnd = () => {};
  try {
    await sql`SELECT pg_advisory_unlock_shared(${IN_USE}::bigint)`;
    const [row] = await sql<{ last: boolean }[]>`SELECT pg_try_advisory_lock(${IN_USE}::bigint) AS last`;
    last = row?.last === true;
  } catch {
    // Without a connection, it is unknown whether others use the server, so it is not stopped.
  }
  if (last) {
    if (alive(pid)) process.kill(pid, "SIGINT");
    const deadline = performance.now() + STOP_LIMIT_MS;
    // A killed server leaves its lock file, and a stopped process counts as alive until its parent reads its exit status.
    while (alive(pid) && (await postmaster(data))?.pid === pid) {
      if (performance.now() > deadline) throw new Error(`The embedded PostgreSQL (process ${pid}) does not stop.`);
      await pause(10);
    }
    // spawnServer has called unref(), so without ref() this process could end before the server has stopped.
    child?.ref();
    if (child) await finished(child);
    // The server removes its lock file a moment before its process ends.
    const reaped = performance.now() + REAP_LIMIT_MS;
    while (alive(pid) && performance.now() < reaped) await pause(10);
  }
  connection.close();
}

async function ensureDatabase({ sql }: ServerConnection, name: string): Promise<void> {
  if ((await sql`SELECT 1 FROM pg_database WHERE datname = ${name}`).length > 0) return;
  await sql`CREATE DATABASE ${sql(name)}`.catch((error: unknown) => {
    if (!["42P04", "23505"].includes(sqlState(error) ?? "")) throw error;
  });
}

/** If the connection to the server ends, connects again or restarts the server on the same port, until `stop` is called. */
async function keep(server: Server): Promise<{ running: RunningServer; stop(): Promise<void> }> {
  let stopping = false;
  let current: Promise<RunningServer>;
  const revive = async (before: RunningServer): Promise<RunningServer> => {
    for (;;) {
      if (stopping) return before;
      const again = await serve(server, lost, before.port).catch(() => null);
      if (again) return again;
      await pause(1000);
    }
  };
  const lost = (): void => {
    if (!stopping) current = current.then(revive);
  };
  current = serve(server, lost);
  return {
    running: await current,
    async stop() {
      stopping = true;
      await leave(await current, server.cluster);
    },
  };
}

export async function startEmbedded({ dataDir, durable = true, database = "countersign" }: EmbeddedOptions): Promise<Postgres> {
  const began = performance.now();
  const home = resolve(dataDir);
  await mkdir(home, { recursive: true });
  const account = await accountForPostgres();
  const bin = await binariesFor(account, home);
  const found = await cluster(home, bin, account, durable);
  const { running, stop } = await keep({ bin, cluster: found, durable });
  try {
    await ensureDatabase(running.connection, database);
  } catch (error) {
    await stop();
    throw error;
  }
  let stopped: Promise<void> | undefined;
  return {
    url: urlOf(running.port, found.password, database),
    directory: found.directory,
    startedMs: Math.round(performance.now() - began),
    stop: () => (stopped ??= stop()),
  };
}
