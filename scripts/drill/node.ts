import { spawn, type ChildProcess } from "node:child_process";
import { chown, copyFile, mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import postgres from "postgres";
import { freePort } from "#test/free-port.ts";
import { Link } from "#test/link.ts";
import { whenEnded } from "#test/when-ended.ts";

/** The programs and the account of the embedded PostgreSQL, and the password of its superuser. */
export type Programs = { readonly postgres: string; readonly uid: number; readonly gid: number; readonly password: string };

/** A standby follows a primary. A primary waits with each commit for one of these standbys, or for none. */
export type Role = { readonly follows?: PostgresNode; readonly names: readonly string[] };

export const DATABASE = "countersign";
const START_LIMIT_MS = 60_000;
/** Folders whose files a copy of a running server leaves out, as pg_basebackup does. */
const emptied = new Set([
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
]);
const leftOut = new Set(["postmaster.pid", "postmaster.opts", "standby.signal", "backup_label"]);

const settings = (port: number): string[] =>
  Object.entries({
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    shared_buffers: "32MB",
    max_connections: 120,
    max_wal_size: "1GB",
    wal_init_zero: "off",
    wal_keep_size: "512MB",
    wal_retrieve_retry_interval: "100ms",
    // A machine that sends nothing is given up after so long.
    wal_receiver_timeout: "3s",
    wal_sender_timeout: "3s",
    jit: "off",
    // It would write on a primary of an old timeline, where nothing may write.
    autovacuum: "off",
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);

const missing = (error: NodeJS.ErrnoException): void => {
  if (error.code !== "ENOENT") throw error;
};

/** Copies the files of a running server. It may remove files meanwhile, and needs them no longer when the copy begins to replay. */
async function copyFiles(from: string, to: string, { uid, gid }: Programs): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  await chown(to, uid, gid);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory() && emptied.has(entry.name)) await mkdir(target, { mode: 0o700 });
    else if (entry.isDirectory()) await copyFiles(source, target, { uid, gid } as Programs);
    else if (!leftOut.has(entry.name)) await copyFile(source, target).catch(missing);
    await chown(target, uid, gid).catch(missing);
  }
}

const childrenOf = async (pid: number): Promise<number[]> => {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  return text.split(/\s+/).filter(Boolean).map(Number);
};

/** A killed process whose parent has not noticed its end yet does not run. */
const runs = async (pid: number): Promise<boolean> => {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return text !== "" && !/\) [ZX] /.test(text);
};

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended.
  }
}

/** A machine with PostgreSQL. All its connections, in and out, go through relays that can fall silent, as a network does. */
export class PostgresNode {
  readonly name: string;
  readonly data: string;
  readonly #programs: Programs;
  readonly #port: number;
  #front: Link | null = null;
  #uplink: Link | null = null;
  #child: ChildProcess | null = null;

  private constructor(name: string, data: string, programs: Programs, port: number) {
    [this.name, this.data, this.#programs, this.#port] = [name, data, programs, port];
  }

  static async make(name: string, data: string, programs: Programs): Promise<PostgresNode> {
    const node = new PostgresNode(name, data, programs, await freePort());
    node.#front = await Link.to(node.directUrl);
    return node;
  }

  /** Without a relay, for who looks at it. */
  get directUrl(): string {
    return `postgres://countersign:${encodeURIComponent(this.#programs.password)}@127.0.0.1:${this.#port}/${DATABASE}`;
  }

  /** Through its relay, as the service and the other nodes reach it. */
  get url(): string {
    return this.#front!.through(this.directUrl);
  }

  get runs(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async ask<T>(statement: string): Promise<T> {
    const sql = postgres(this.directUrl, { max: 1, onnotice: () => {}, connect_timeout: 5 });
    try {
      const [row] = await sql.unsafe(statement);
      return Object.values(row ?? {})[0] as T;
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  async #configure({ follows, names }: Role): Promise<void> {
    const lines = [`synchronous_standby_names = '${names.length > 0 ? `ANY 1 (${names.join()})` : ""}'`];
    this.#uplink?.close();
    this.#uplink = follows ? await Link.to(follows.url) : null;
    if (follows && this.#uplink) {
      const { hostname, port, username, password } = new URL(this.#uplink.through(follows.url));
      const options = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
      lines.push(`primary_conninfo = '${options} application_name=${this.name}'`, "recovery_target_timeline = 'latest'");
    }
    await writeFile(join(this.data, "postgresql.auto.conf"), `${lines.join("\n")}\n`);
  }

  /** Becomes a copy of a running primary, and its standby. */
  async copy(primary: PostgresNode, names: readonly string[]): Promise<void> {
    const { uid, gid } = this.#programs;
    await rm(this.data, { recursive: true, force: true });
    // The backup lasts as long as its connection.
    const sql = postgres(primary.directUrl, { max: 1, onnotice: () => {} });
    await sql`SELECT pg_backup_start(${this.name}, true)`;
    await copyFiles(primary.data, this.data, this.#programs);
    const [stopped] = await sql<{ labelfile: string }[]>`SELECT labelfile FROM pg_backup_stop(false)`;
    await sql.end();
    for (const [file, text] of Object.entries({ backup_label: stopped!.labelfile, "standby.signal": "" })) {
      await writeFile(join(this.data, file), text);
      await chown(join(this.data, file), uid, gid);
    }
    await this.start({ follows: primary, names });
  }

  async start(role: Role): Promise<void> {
    await this.#configure(role);
    const { postgres: program, uid, gid } = this.#programs;
    const log = await open(`${this.data}.log`, "a", 0o600);
    const child = spawn(program, ["-D", this.data, ...settings(this.#port)], {
      cwd: "/",
      // In a session of its own, so that Ctrl-C does not end it before the drill ends it.
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
      ...(process.getuid?.() === 0 && { uid, gid }),
    });
    await log.close();
    child.once("exit", whenEnded("kill", "-QUIT", String(child.pid)));
    this.#child = child;
    await this.#answers();
  }

  async #answers(): Promise<void> {
    for (const until = performance.now() + START_LIMIT_MS; performance.now() < until; await pause(25)) {
      if (!this.runs) break;
      if (await this.ask("SELECT true").catch(() => false)) return;
    }
    throw new Error(`${this.name} does not answer:\n${(await readFile(`${this.data}.log`, "utf8")).slice(-3_000)}`);
  }

  /** Changes its role without a restart. */
  async reconfigure(role: Role): Promise<void> {
    await this.#configure(role);
    await this.ask("SELECT pg_reload_conf()");
  }

  /** Kills all its processes at once. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || !this.runs) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const pids = [child.pid!, ...(await childrenOf(child.pid!))];
    for (const pid of pids) kill(pid);
    await ended;
    for (const pid of pids) while (await runs(pid)) await pause(5);
  }

  /** Drops every packet from and to the machine. */
  silence(): void {
    for (const link of [this.#front, this.#uplink]) link?.freeze();
  }

  /** Packets pass again. Connections from before are reset, because their bytes are missing. */
  hear(): void {
    for (const link of [this.#front, this.#uplink]) {
      link?.reset();
      link?.mend();
    }
  }

  async close(): Promise<void> {
    await this.kill();
    for (const link of [this.#front, this.#uplink]) link?.close();
  }
}

/** The programs of the embedded server that has used this folder: PostgreSQL notes its own command line there. */
export async function programsOf(directory: string): Promise<Programs> {
  const data = join(directory, "data");
  const [command = ""] = (await readFile(join(data, "postmaster.opts"), "utf8")).split(' "');
  const { uid, gid } = await stat(data);
  return { postgres: command, uid, gid, password: await readFile(join(directory, "password"), "utf8") };
}
