import { readdir, readFile } from "node:fs/promises";
import postgres from "postgres";
import type { Measurement } from "./load.ts";

/**
 * CPU time in microseconds, bytes of write-ahead log, and bytes of the database's files: the totals so far, or the share of one
 * request in `Metered`.
 */
export type CpuUse = {
  readonly mainThread: number;
  readonly otherThreads: number;
  readonly postgres: number;
  readonly client: number;
  readonly walBytes: number;
  readonly diskBytes: number;
};

export type Meter = { read(): Promise<CpuUse>; end(): Promise<void> };

/** A measurement, with the CPU time and the bytes that each of its requests used. */
export type Metered = Measurement & { readonly spent: CpuUse };

/** Runs a load and measures the CPU time and the bytes that each request used. */
export async function metered(meter: Meter, work: () => Promise<Measurement>): Promise<Metered> {
  const before = await meter.read();
  const measured = await work();
  const after = await meter.read();
  const names = Object.keys(before) as (keyof CpuUse)[];
  const spent = Object.fromEntries(names.map((name) => [name, (after[name] - before[name]) / measured.requests]));
  return { ...measured, spent: spent as CpuUse };
}

/** Linux counts the CPU time in /proc in hundredths of a second. */
const TICK_US = 10_000;

/**
 * Returns the CPU time in microseconds of the process or thread with this path in /proc; 0 if it has ended. `withChildren` adds
 * the CPU time of its children that have ended.
 */
async function timeOf(path: string, withChildren = false): Promise<number> {
  const text = await readFile(`${path}/stat`, "utf8").catch(() => "");
  const fields = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [own, children] = [(fields[11] ?? 0) + (fields[12] ?? 0), (fields[13] ?? 0) + (fields[14] ?? 0)];
  return (own + (withChildren ? children : 0)) * TICK_US;
}

async function childrenOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, "utf8").catch(() => "")));
  return lists.join(" ").split(/\s+/).filter(Boolean).map(Number);
}

/** Makes a meter for a server, its PostgreSQL, and this process, which sends the requests. */
export async function meterOf(serverPid: number, databaseUrl: string): Promise<Meter> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  const [found] = await sql<{ directory: string }[]>`SELECT current_setting('data_directory') AS directory`;
  const postmaster = Number((await readFile(`${found!.directory}/postmaster.pid`, "utf8")).split("\n")[0]);
  return {
    async read() {
      const backends = await childrenOf(postmaster);
      const [bytes] = await sql<{ wal: string; disk: string }[]>`
        SELECT pg_current_wal_insert_lsn() - '0/0' AS wal, pg_database_size(current_database()) AS disk`;
      const [whole, mainThread, own, ...others] = await Promise.all([
        timeOf(`/proc/${serverPid}`),
        timeOf(`/proc/${serverPid}/task/${serverPid}`),
        timeOf(`/proc/${postmaster}`, true),
        ...backends.map((pid) => timeOf(`/proc/${pid}`)),
      ]);
      const { user, system } = process.cpuUsage();
      return {
        mainThread,
        otherThreads: whole - mainThread,
        postgres: others.reduce((sum, time) => sum + time, own),
        client: user + system,
        walBytes: Number(bytes!.wal),
        diskBytes: Number(bytes!.disk),
      };
    },
    end: () => sql.end(),
  };
}
