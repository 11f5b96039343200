import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Sql as DriverSql } from "postgres";
import { env } from "#lib/env.ts";
import { Pool } from "#lib/db/pool.ts";
import type { Sql } from "#lib/db/sql.ts";
import { forget, perProcess } from "#lib/process.ts";

export type { Sql };
export type Database = PostgresJsDatabase;
export type Tx = Parameters<Parameters<Database["transaction"]>[0]>[0];

const names = ["pool", "listPool", "urgentPool"] as const;

type Limits = {
  readonly max: number;
  readonly lockTimeoutMs: number;
  readonly statementTimeoutMs: number;
  /** How long a caller waits for a connection. */
  readonly waitMs: number;
  /** When a client that vanished inside of a transaction loses its locks. */
  readonly idleInTransactionMs: number;
  readonly settings?: Readonly<Record<string, string>>;
};

/** A live server ends a statement at statement_timeout and says so; an answer that comes later than this never comes. */
const SILENCE_AFTER_MS = 1_500;

export function createPool({ max, lockTimeoutMs, statementTimeoutMs, waitMs, idleInTransactionMs, settings }: Limits): Pool {
  const url = env().DATABASE_URL;
  if (!url) throw new Error("No database: DATABASE_URL is not set and the embedded database was not started.");
  const created = new Pool({
    url,
    max,
    waitMs,
    waitersMax: 4_096,
    openMs: 3_000,
    silenceMs: statementTimeoutMs + SILENCE_AFTER_MS,
    idleMs: 300_000,
    lifetimeMs: (30 + Math.random() * 30) * 60_000,
    settings: {
      application_name: "countersign",
      lock_timeout: lockTimeoutMs,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: idleInTransactionMs,
      // A server must notice a client that vanished, or its connections fill up with dead ones.
      tcp_keepalives_idle: 30,
      tcp_keepalives_interval: 10,
      tcp_keepalives_count: 3,
      ...settings,
    },
  });
  created.onSilence = (since) => {
    for (const one of openPools()) one.forgetUnheardSince(since);
  };
  return created;
}

const usual = { lockTimeoutMs: 4_000, statementTimeoutMs: 6_000, waitMs: 5_000, idleInTransactionMs: 5_000 };

/** For everything but the lists of the hot path. */
export const mainPool = (): Pool => perProcess("pool", () => createPool({ ...usual, max: env().DATABASE_POOL }));

/**
 * Lists make the same few statements for ever, so each is planned once for a connection: planning took longer than finding. Plans are
 * made while tables are young; none may walk a table for that.
 */
const planOnce = { plan_cache_mode: "force_generic_plan", enable_seqscan: "off" };

/** The connections of the authorize lists: two lists open at once, and one more for key look-ups. */
export const listPool = (): Pool =>
  perProcess("listPool", () =>
    createPool({
      max: 3,
      lockTimeoutMs: 1_000,
      statementTimeoutMs: 3_000,
      waitMs: 3_000,
      idleInTransactionMs: 3_000,
      settings: planOnce,
    }),
  );

/** The connections of what must never wait behind traffic: one works, one lets the next caller in. */
export const urgentPool = (): Pool => perProcess("urgentPool", () => createPool({ ...usual, max: 2 }));

/** Statements outside of a transaction, on the connections that everything but lists and emergencies uses. */
export const pool = (): Sql => mainPool().sql;

/** drizzle reads and writes times as text, as every pool does, so what it sets on the options of a client changes nothing here. */
function drizzled(from: Pool): Database {
  const client = Object.assign(from.sql, {
    options: { parsers: {}, serializers: {} },
    begin: from.begin.bind(from),
  });
  return drizzle(client as unknown as DriverSql);
}

export const urgentDatabase = (): Database => perProcess("urgentDatabase", () => drizzled(urgentPool()));

export const database = (): Database => perProcess("database", () => drizzled(mainPool()));

/** The pools that exist, by name. */
export const poolsByName = (): ReadonlyMap<string, Pool> =>
  new Map(
    names.flatMap((name) => {
      const one = perProcess<Pool | null>(name, () => null);
      return one ? [[name, one] as const] : [];
    }),
  );

const openPools = (): Pool[] => [...poolsByName().values()];

/** Ends every connection, waiting for what runs. */
export async function closePools(): Promise<void> {
  await Promise.all(openPools().map((one) => one.end(5_000)));
  for (const name of [...names, "database", "urgentDatabase"]) forget(name);
}
