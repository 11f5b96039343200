import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Sql as DriverSql } from "postgres";
import { env } from "#lib/env.ts";
import { ServerConnection } from "#lib/db/connection.ts";
import { lookAround, type OtherHost } from "#lib/db/connections/hosts.ts";
import { tellPrimaries, type PrimaryEvent } from "#lib/db/connections/timelines.ts";
import { commitTimes, type CommitTimes } from "#lib/db/connections/commits.ts";
import { endLost } from "#lib/db/connections/end-lost.ts";
import { terminate } from "#lib/db/connections/terminate.ts";
import { Pool } from "#lib/db/pool.ts";
import type { Sql } from "#lib/db/sql.ts";
import { forget, perProcess } from "#lib/process.ts";

export type { Sql };
export type Database = PostgresJsDatabase;
export type Tx = Parameters<Parameters<Database["transaction"]>[0]>[0];

const names = ["pool", "batchPool", "urgentPool", "watchPool", "commitPool"] as const;

type Limits = {
  readonly max: number;
  readonly lockTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly waitMs: number;
  readonly openMs?: number;
  readonly graceMs?: number;
  /** After this time, the server ends an idle transaction, which frees its locks. */
  readonly idleInTransactionMs: number;
  readonly settings?: Readonly<Record<string, string>>;
};

/** A working server reports its statement_timeout, so a server that is silent for this much longer counts as lost. */
const SILENCE_AFTER_MS = 1_000;

export function createPool(limits: Limits): Pool {
  const {
    max,
    lockTimeoutMs,
    statementTimeoutMs,
    waitMs,
    openMs = 3_000,
    graceMs = 3_000,
    idleInTransactionMs,
    settings,
  } = limits;
  const url = env().DATABASE_URL;
  if (!url) throw new Error("No database: DATABASE_URL is not set and the embedded database was not started.");
  const created = new Pool({
    url,
    max,
    waitMs,
    waitersMax: 4_096,
    openMs,
    graceMs,
    silenceMs: statementTimeoutMs + SILENCE_AFTER_MS,
    idleMs: 300_000,
    lifetimeMs: (30 + Math.random() * 30) * 60_000,
    settings: {
      application_name: "countersign",
      lock_timeout: lockTimeoutMs,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: idleInTransactionMs,
      // The server must detect clients that have disappeared, or their connections use up max_connections.
      tcp_keepalives_idle: 30,
      tcp_keepalives_interval: 10,
      tcp_keepalives_count: 3,
      ...settings,
    },
  });
  created.onSilence = (since) => {
    // These pools give up a silent connection sooner; statements of other pools may still be answered.
    if (limits === short) return;
    for (const one of openPools()) one.forgetUnheardSince(since);
  };
  created.onQuiet = () => {
    if (created.isEnding) return;
    void endLost(watchPool().sql, openPools());
    void watchHosts();
  };
  return created;
}

const LOOK_MS = 1_000;

/**
 * With several hosts in DATABASE_URL, finds a newer primary although the old one still answers.
 * @returns what the other hosts are
 */
export function watchHosts(): Promise<readonly OtherHost[]> {
  const url = env().DATABASE_URL ?? "";
  const look = { url, settings: { application_name: "countersign" }, openMs: LOOK_MS, silenceMs: LOOK_MS };
  return lookAround(url, (host) => ServerConnection.openAt(host, look));
}

/** `tell` gets what happens to the primary, for the log. */
export const onPrimary = (tell: (event: PrimaryEvent) => void): void => tellPrimaries(tell);

const usual = { lockTimeoutMs: 4_000, statementTimeoutMs: 6_000, waitMs: 5_000, idleInTransactionMs: 5_000 };

export const mainPool = (): Pool => perProcess("db/client pool", () => createPool({ ...usual, max: env().DATABASE_POOL }));

/** Planning took longer than execution, so plan once. No sequential scans: a table that is small at planning may grow. */
const planOnce = { plan_cache_mode: "force_generic_plan", enable_seqscan: "off" };

/** For open batches and for looking up API keys. */
export const batchPool = (): Pool =>
  perProcess("db/client batchPool", () =>
    createPool({
      max: 3,
      lockTimeoutMs: 1_000,
      statementTimeoutMs: 2_500,
      waitMs: 3_000,
      idleInTransactionMs: 3_000,
      settings: planOnce,
    }),
  );

/** Urgent work, such as an emergency stop, must not wait for a connection behind other requests. */
export const urgentPool = (): Pool => perProcess("db/client urgentPool", () => createPool({ ...usual, max: 2 }));

const short = {
  max: 1,
  lockTimeoutMs: 500,
  statementTimeoutMs: 500,
  waitMs: 1_000,
  openMs: 1_000,
  graceMs: 0,
  idleInTransactionMs: 1_000,
  // The least possible, so that a small statement writes a temporary file (lib/health/commit-store.ts).
  settings: { work_mem: "64kB" },
};

const watching = (): Pool | null => perProcess<Pool | null>("db/client watchPool", () => null);

/** Asks the server about itself and its connections. Short limits, as its own connection may be lost too. */
export const watchPool = (): Pool => perProcess("db/client watchPool", () => createPool(short));

/**
 * Finds out whether the server commits. PostgreSQL does not end a wait for a standby, so this pool gives up the waiting connection, and
 * ends the server process before it opens another connection.
 */
export const commitPool = (): Pool => perProcess("db/client commitPool", () => createPool(short));

/** Of all pools of this process. */
export const lastCommits = (): Readonly<CommitTimes> => commitTimes();

/** Statements outside of a transaction, on the main pool. */
export const pool = (): Sql => mainPool().sql;

/**
 * Waits until a standby has all that is visible, if commits wait for one. A commit whose wait was canceled is visible although no
 * standby has it, so a stored answer waits again before it is given. It begins with WITH, so that the pool takes it for a write.
 */
export async function untilOnStandby(sql = pool()): Promise<void> {
  await sql`
    WITH setting AS MATERIALIZED (SELECT current_setting('synchronous_standby_names') AS names)
    SELECT pg_logical_emit_message(true, 'countersign', '') FROM setting WHERE names <> ''`;
}

/** drizzle sets parsers in these options, without effect: every pool sends and receives times as text. */
function drizzled(from: Pool): Database {
  const client = Object.assign(from.sql, {
    options: { parsers: {}, serializers: {} },
    begin: from.begin.bind(from),
  });
  return drizzle(client as unknown as DriverSql);
}

/** For statements that drizzle does not build; reads a private field of drizzle's transaction. */
export const sqlOf = (tx: Tx): Sql => (tx as unknown as { readonly session: { readonly client: Sql } }).session.client;

export const urgentDatabase = (): Database => perProcess("db/client urgentDatabase", () => drizzled(urgentPool()));

export const database = (): Database => perProcess("db/client database", () => drizzled(mainPool()));

export const poolsByName = (): ReadonlyMap<string, Pool> =>
  new Map(
    names.flatMap((name) => {
      const one = perProcess<Pool | null>(`db/client ${name}`, () => null);
      return one ? [[name, one] as const] : [];
    }),
  );

const openPools = (): Pool[] => [...poolsByName().values()];

/**
 * Waits up to 5 seconds for running work. PostgreSQL ends no wait for a standby when its client is gone, so each restart of a process
 * would leave server processes until max_connections is reached.
 */
export async function closePools(): Promise<void> {
  const working = openPools().filter((one) => one !== watching());
  const left = (await Promise.all(working.map((one) => one.end(5_000)))).flat();
  if (left.length > 0) await terminate(watchPool().sql, left).catch(() => {});
  await watching()?.end(5_000);
  forget("db/client");
}
