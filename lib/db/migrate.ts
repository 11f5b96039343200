import { join } from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { mainPool } from "#lib/db/client.ts";
import { ServerConnection } from "#lib/db/connection.ts";
import type { Sql } from "#lib/db/sql.ts";
import { DAY_MS } from "#lib/time.ts";
import type { Environment } from "#lib/vocabulary.ts";
import journal from "../../drizzle/meta/_journal.json" with { type: "json" };

/** An advisory lock, so that processes that start at the same time migrate one after the other. */
const MIGRATION = 0x6d696772;

export type MigrateOptions = {
  readonly url: string;
  readonly environment: Environment;
  readonly folder?: string;
};

const changed =
  "A migration was changed after it was applied to this database. Migrations only go forward. " +
  "Use the release that made this database, or an empty database.";

type AppliedMigration = { hash: string; at: string };

async function apply(sql: Sql, folder: string): Promise<number> {
  const known = readMigrationFiles({ migrationsFolder: folder });
  await sql`CREATE SCHEMA IF NOT EXISTS drizzle`;
  await sql`CREATE TABLE IF NOT EXISTS drizzle.__drizzle_migrations (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`;
  const applied = await sql<AppliedMigration[]>`SELECT hash, created_at::text AS at FROM drizzle.__drizzle_migrations`;
  const hashes = new Map(applied.map((row) => [Number(row.at), row.hash]));
  let count = 0;
  const newest = Math.max(...known.map((migration) => migration.folderMillis));
  const gone = [...hashes.keys()].some((at) => at <= newest && !known.some((migration) => migration.folderMillis === at));
  if (gone) throw new Error(changed);
  for (const migration of known) {
    const hash = hashes.get(migration.folderMillis);
    if (hash === migration.hash) continue;
    if (hash) throw new Error(changed);
    for (const statement of migration.sql) await sql.unsafe(statement);
    await sql`INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES (${migration.hash}, ${migration.folderMillis})`;
    count += 1;
  }
  return count;
}

/** Stored permanently, so that sandbox payments and real payments never share a database. */
async function claimEnvironment(sql: Sql, environment: Environment): Promise<void> {
  await sql`INSERT INTO installation (environment) VALUES (${environment}) ON CONFLICT DO NOTHING`;
  const [row] = await sql<{ environment: string }[]>`SELECT environment FROM installation`;
  if (row?.environment !== environment) {
    throw new Error(
      `This database belongs to the ${row?.environment} environment and ENVIRONMENT is ${environment}. ` +
        `Start with ENVIRONMENT=${row?.environment}, or give this installation a database of its own.`,
    );
  }
}

/** One transaction for all missing migrations. Returns how many were applied. */
export async function migrate({ url, environment, folder = join(process.cwd(), "drizzle") }: MigrateOptions): Promise<number> {
  // No statement or lock timeout is set, because a migration may take long and a second process waits for the first one.
  const settings = { application_name: "countersign-migrate" };
  const connection = await ServerConnection.open({ url, settings, openMs: 10_000, silenceMs: DAY_MS });
  const { sql } = connection;
  try {
    await sql`BEGIN`;
    await sql`SELECT pg_advisory_xact_lock(${MIGRATION}::bigint)`;
    const count = await apply(sql, folder);
    await claimEnvironment(sql, environment);
    await sql`COMMIT`;
    return count;
  } finally {
    // If the transaction is not committed, closing the connection rolls it back.
    connection.close();
  }
}

/** True for a newer release's database too, because older processes still serve requests until they are replaced. */
export async function schemaIsCurrent(sql: Sql = mainPool().sql): Promise<boolean> {
  const newest = journal.entries.at(-1)?.when ?? 0;
  const [row] = await sql<{ current: boolean }[]>`
    SELECT coalesce(max(created_at), 0) >= ${newest} AS current FROM drizzle.__drizzle_migrations`;
  return row?.current === true;
}
