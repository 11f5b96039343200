import { join } from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { applyAlone, isAlone } from "#lib/db/apply-alone.ts";
import { mainPool } from "#lib/db/client.ts";
import { ServerConnection } from "#lib/db/connection.ts";
import { sqlState } from "#lib/db/failure.ts";
import type { Sql } from "#lib/db/sql.ts";
import { commandFor, home } from "#lib/process.ts";
import { DAY_MS } from "#lib/time.ts";
import type { Environment } from "#lib/vocabulary.ts";
import journal from "../../drizzle/meta/_journal.json" with { type: "json" };
import self from "../../package.json" with { type: "json" };

/** An advisory lock, so that processes that start at the same time migrate one after the other. */
const MIGRATION = 0x6d696772;
const FORBIDDEN = "42501";
const VERSION = self.version;

export type MigrateOptions = {
  readonly url: string;
  readonly environment: Environment;
  readonly folder?: string;
  /** The schema of the tables and of the list of migrations, by default `public`. */
  readonly schema?: string;
  /** The version of the release that migrates, by default of this one. */
  readonly release?: string;
};

type Migration = {
  readonly at: number;
  readonly alone: boolean;
  readonly hash: string;
  readonly statements: readonly string[];
  readonly serves: string | null;
};
type Applied = { readonly at: string; readonly hash: string; readonly serves: string | null };

const changed =
  "A migration was changed after it was applied to this database. Migrations only go forward. " +
  "Use the release that made this database, or an empty database.";

/** The oldest release that can use the database after a migration, if the migration names it in its first line. */
export const servesOf = (text: string): string | null => /^-- serves: (\d+\.\d+\.\d+)(?:\n|$)/.exec(text)?.[1] ?? null;

const migrationsIn = (folder: string): Migration[] =>
  readMigrationFiles({ migrationsFolder: folder }).map(({ folderMillis, hash, sql }) => ({
    at: folderMillis,
    alone: isAlone(sql[0] ?? ""),
    hash,
    statements: sql,
    serves: servesOf(sql[0] ?? ""),
  }));

const isNewer = (one: string, other: string): boolean => {
  const [a, b] = [one, other].map((version) => version.split(".").map(Number)) as [number[], number[]];
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && a[at]! > b[at]!;
};

/** The oldest release that can use the database, if `release` is older than that one. */
const neededFor = (applied: readonly Pick<Applied, "serves">[], release: string): string | null =>
  applied.reduce<string | null>(
    (needed, { serves }) => (serves !== null && isNewer(serves, needed ?? release) ? serves : needed),
    null,
  );

/** Makes the list of migrations, in the schema of the tables. Earlier commits had one list for the whole database, which is copied. */
async function makeList(sql: Sql, schema: string): Promise<void> {
  const [found] = await sql<{ schema: boolean; old: boolean }[]>`
    SELECT to_regnamespace(${`"${schema}"`}) IS NOT NULL AS schema, to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS old`;
  if (found?.schema !== true) await sql.unsafe(`CREATE SCHEMA "${schema}"`);
  await sql`
    CREATE TABLE migrations (
      created_at bigint PRIMARY KEY, hash text NOT NULL, serves text, applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )`;
  if (schema === "public" && found?.old === true)
    await sql`INSERT INTO migrations (created_at, hash) SELECT created_at, hash FROM drizzle.__drizzle_migrations`;
}

async function hasList(sql: Sql): Promise<boolean> {
  const [list] = await sql<{ found: boolean }[]>`SELECT to_regclass('migrations') IS NOT NULL AS found`;
  return list?.found === true;
}

async function appliedIn(sql: Sql): Promise<readonly Applied[]> {
  return sql<Applied[]>`SELECT created_at::text AS at, hash, serves FROM migrations`;
}

/** @throws if the database was made by other migrations, or is too new for this release */
function missingOf(known: readonly Migration[], applied: readonly Applied[], release: string): Migration[] {
  const needed = neededFor(applied, release);
  if (needed !== null)
    throw new Error(
      `This database was changed by Countersign ${needed} or a newer release, and ${release} can no longer read it. Start ${needed} or newer.`,
    );
  const hashes = new Map(applied.map(({ at, hash }) => [Number(at), hash]));
  const newest = Math.max(...known.map(({ at }) => at));
  const gone = [...hashes.keys()].some((at) => at <= newest && !known.some((migration) => migration.at === at));
  if (gone || known.some(({ at, hash }) => hashes.has(at) && hashes.get(at) !== hash)) throw new Error(changed);
  return known.filter(({ at }) => !hashes.has(at));
}

const statementsFor = ({ statements }: Migration, schema: string): string[] =>
  statements.map((statement) => statement.replaceAll(`"public".`, `"${schema}".`));

const noteApplied = (sql: Sql, { at, hash, serves }: Migration) =>
  sql`INSERT INTO migrations (created_at, hash, serves) VALUES (${at}, ${hash}, ${serves})`;

async function apply(sql: Sql, migration: Migration, schema: string): Promise<void> {
  for (const statement of statementsFor(migration, schema)) await sql.unsafe(statement);
  await noteApplied(sql, migration);
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

function explained(error: unknown, missing: readonly Migration[] | null, release: string): unknown {
  if (sqlState(error) !== FORBIDDEN) return error;
  const text =
    missing === null || missing.length === 0
      ? "The role of DATABASE_URL lacks a right. Grant it SELECT, INSERT, UPDATE and DELETE on all tables."
      : `The database is too old for Countersign ${release}: it lacks ${missing.length} of the migrations, and the role of DATABASE_URL may not apply them. Run "${commandFor("migrate")}" with a role that owns the tables.`;
  return new Error(text, { cause: error });
}

type Round = { readonly sql: Sql; readonly known: readonly Migration[]; readonly schema: string; readonly release: string };

/** One transaction for all missing migrations, up to one that is applied alone. Returns that one and those after it. */
async function applyTogether({ sql, known, schema, release }: Round, environment: Environment) {
  let missing: Migration[] | null = null;
  try {
    await sql`BEGIN`;
    await sql`SELECT pg_advisory_xact_lock(${MIGRATION}::bigint)`;
    if (!(await hasList(sql))) {
      missing = known.slice();
      await makeList(sql, schema);
    }
    missing = missingOf(known, await appliedIn(sql), release);
    const alone = missing.findIndex((migration) => migration.alone);
    const together = alone < 0 ? missing : missing.slice(0, alone);
    for (const migration of together) await apply(sql, migration, schema);
    await claimEnvironment(sql, environment);
    await sql`COMMIT`;
    return { count: together.length, left: missing.slice(together.length) };
  } catch (error) {
    throw explained(error, missing, release);
  }
}

/** Applies all missing migrations. Returns how many were applied. */
export async function migrate(options: MigrateOptions): Promise<number> {
  const { url, environment, folder = join(home(), "drizzle"), schema = "public", release = VERSION } = options;
  const known = migrationsIn(folder);
  // No statement or lock timeout is set, because a migration may take long and a second process waits for the first one.
  const settings = { application_name: "countersign-migrate", search_path: `"${schema}"` };
  const connection = await ServerConnection.open({ url, settings, openMs: 10_000, silenceMs: DAY_MS });
  const { sql } = connection;
  try {
    for (let applied = 0; ;) {
      const { count, left } = await applyTogether({ sql, known, schema, release }, environment);
      applied += count;
      const [alone] = left;
      if (!alone) return applied;
      const isApplied = async () => (await appliedIn(sql)).some(({ at }) => Number(at) === alone.at);
      const note = () => noteApplied(sql, alone);
      const applying = applyAlone(sql, statementsFor(alone, schema), { isApplied, note });
      const isOurs = await applying.catch((error: unknown) => Promise.reject(explained(error, left, release)));
      if (isOurs) applied += 1;
    }
  } finally {
    // If a transaction is not committed, or a lock is held, closing the connection ends it.
    connection.close();
  }
}

/** True for a newer release's database too, as long as this release can still use it while its processes are replaced. */
export async function schemaIsCurrent(sql: Sql = mainPool().sql): Promise<boolean> {
  const applied = await sql<Pick<Applied, "at" | "serves">[]>`SELECT created_at::text AS at, serves FROM migrations`;
  const newest = journal.entries.at(-1)?.when ?? 0;
  return applied.some(({ at }) => Number(at) >= newest) && neededFor(applied, VERSION) === null;
}
