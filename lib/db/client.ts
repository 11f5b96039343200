import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import postgres, { type Sql } from "postgres";
import { env } from "#lib/env.ts";
import { forget, perProcess } from "#lib/process.ts";

export type Database = PostgresJsDatabase;
export type Tx = Parameters<Parameters<Database["transaction"]>[0]>[0];

type Limits = {
  readonly max: number;
  readonly lockTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly settings?: Readonly<Record<string, string>>;
};

function connect({ max, lockTimeoutMs, statementTimeoutMs, settings }: Limits): Sql {
  const url = env().DATABASE_URL;
  if (!url) throw new Error("No database: DATABASE_URL is not set and the embedded database was not started.");
  return postgres(url, {
    max,
    connect_timeout: 5,
    // The driver's own waits grow to 20 s, and a database that is back must be found at once.
    backoff: () => 0.05,
    idle_timeout: 300,
    onnotice: () => {},
    connection: {
      application_name: "countersign",
      lock_timeout: lockTimeoutMs,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: 15_000,
      ...settings,
    },
  });
}

/** For everything but the lists of the hot path. */
export const pool = (): Sql =>
  perProcess("pool", () => connect({ max: env().DATABASE_POOL, lockTimeoutMs: 5_000, statementTimeoutMs: 10_000 }));

/**
 * Lists make the same few statements for ever, so each is planned once for a connection: planning took longer than finding. Plans are
 * made while tables are young; none may walk a table for that.
 */
const planOnce = { plan_cache_mode: "force_generic_plan", enable_seqscan: "off" };

/** The connections of the authorize lists: two lists open at once, and one more for key look-ups. */
export const listPool = (): Sql =>
  perProcess("listPool", () => connect({ max: 3, lockTimeoutMs: 1_000, statementTimeoutMs: 3_000, settings: planOnce }));

/** The connections of what must never wait behind traffic: one works, one lets the next caller in. */
export const urgentPool = (): Sql =>
  perProcess("urgentPool", () => connect({ max: 2, lockTimeoutMs: 5_000, statementTimeoutMs: 10_000 }));

export const urgentDatabase = (): Database => perProcess("urgentDatabase", () => drizzle(urgentPool()));

export const database = (): Database => perProcess("database", () => drizzle(pool()));

/** Ends every connection, waiting for what runs. */
export async function closePools(): Promise<void> {
  const pools = ["pool", "listPool", "urgentPool"];
  const open = pools.map((name) => perProcess<Sql | null>(name, () => null));
  await Promise.all(open.flatMap((sql) => (sql ? [sql.end({ timeout: 5 })] : [])));
  for (const name of [...pools, "database", "urgentDatabase"]) forget(name);
}
