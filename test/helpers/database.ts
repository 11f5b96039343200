import { randomBytes } from "node:crypto";
import postgres from "postgres";
import { afterAll, beforeAll, inject } from "vitest";
import { closePools } from "#lib/db/client.ts";
import { forget } from "#lib/process.ts";
import { keepNoted } from "#test/statements.ts";

export type TestDatabase = { readonly url: string; readonly name: string };

async function administer(...statements: readonly string[]): Promise<void> {
  const sql = postgres(inject("cluster").url, { max: 1, onnotice: () => {} });
  try {
    for (const statement of statements) await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Creates a migrated database, or an empty one for a test that runs the migrations itself. */
export async function createDatabase({ empty = false } = {}): Promise<TestDatabase & { drop(): Promise<void> }> {
  const { url, template, run } = inject("cluster");
  const name = `file_${Date.now()}_${randomBytes(6).toString("hex")}`;
  // The default strategy, wal_log, would write each page to the write-ahead log too, which takes longer.
  await administer(`CREATE DATABASE ${name} TEMPLATE ${empty ? "template0" : template} STRATEGY file_copy`);
  const own = new URL(url);
  own.pathname = name;
  const drop = () => administer(...(run ? keepNoted(run, name) : []), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  return { url: own.href, name, drop };
}

/** Creates one migrated database for a test file. DATABASE_URL names it while the tests of the file run. */
export function useDatabase(): () => TestDatabase {
  let database: Awaited<ReturnType<typeof createDatabase>> | undefined;
  beforeAll(async () => {
    database = await createDatabase();
    process.env["DATABASE_URL"] = database.url;
    forget("env");
  });
  afterAll(async () => {
    await closePools();
    await database?.drop();
  });
  return () => {
    if (!database) throw new Error("The database exists from the first hook to the last.");
    return database;
  };
}
