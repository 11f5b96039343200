/** `countersign-server copy-database`: copies the embedded database of DATA_DIR into the empty database that DATABASE_URL names. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import postgres, { type Sql, type TransactionSql } from "postgres";
import { startEmbedded } from "#lib/db/embedded.ts";
import { toldCauses } from "#lib/db/failure.ts";
import { migrate } from "#lib/db/migrate.ts";
import { refuseRunning } from "#lib/db/refuse-running.ts";
import { refuseServer } from "#lib/db/refuse-server.ts";
import { env } from "#lib/env.ts";
import { provideSecrets } from "#lib/installation/secrets.ts";

const say = (line: string): void => console.error(`countersign: ${line}`);
/** Among several hosts, the driver looks for the primary by itself. */
const connect = (url: string): Sql => postgres(url, { max: 1, onnotice: () => {}, target_session_attrs: "primary" });

type Table = { readonly name: string; readonly columns: string };

/** The tables, each after those that it refers to, with the columns that are not computed. */
async function tablesOf(sql: Sql): Promise<readonly Table[]> {
  const rows = await sql<(Table & { readonly needs: readonly string[] })[]>`
    SELECT c.oid::regclass::text AS name,
      (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attname) FROM pg_attribute
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns,
      ARRAY(SELECT confrelid::regclass::text FROM pg_constraint
        WHERE conrelid = c.oid AND contype = 'f' AND confrelid <> conrelid) AS needs
    FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname <> 'migrations' ORDER BY 1`;
  const ordered: Table[] = [];
  while (ordered.length < rows.length) {
    const isDone = (name: string): boolean => ordered.some((one) => one.name === name);
    const next = rows.filter(({ name, needs }) => !isDone(name) && needs.every(isDone));
    if (next.length === 0) throw new Error("Tables refer to each other in a circle.");
    ordered.push(...next);
  }
  return ordered;
}

async function refuseRows(sql: TransactionSql, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    if ((await sql`SELECT 1 FROM ${sql.unsafe(name)} LIMIT 1`).length > 0)
      throw new Error(`The database of DATABASE_URL is not empty: ${name} has rows. Name an empty one.`);
  }
}

async function countOf(sql: TransactionSql, name: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`SELECT count(*)::float8 AS count FROM ${sql.unsafe(name)}`;
  return row!.count;
}

async function copyTable(from: TransactionSql, to: TransactionSql, { name, columns }: Table): Promise<number> {
  const reading = await from.unsafe(`COPY ${name} (${columns}) TO STDOUT`).readable();
  await pipeline(reading, await to.unsafe(`COPY ${name} (${columns}) FROM STDIN`).writable());
  const [had, has] = [await countOf(from, name), await countOf(to, name)];
  if (had !== has) throw new Error(`${name} has ${had} rows, and ${has} arrived.`);
  return has;
}

/** Returns the number of rows. All of them arrive, or none. */
async function copyAll(fromUrl: string, toUrl: string): Promise<number> {
  const [from, to] = [connect(fromUrl), connect(toUrl)];
  try {
    const tables = await tablesOf(from);
    return await from.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", (reading) =>
      to.begin(async (writing) => {
        // The migrations have claimed the database for its environment already.
        await writing`DELETE FROM installation`;
        await refuseRows(writing, tables);
        let rows = 0;
        for (const table of tables) rows += await copyTable(reading, writing, table);
        return rows;
      }),
    );
  } finally {
    await Promise.all([from.end(), to.end()]);
  }
}

try {
  await provideSecrets(process.env);
  const { DATABASE_URL, DATA_DIR, ENVIRONMENT } = env();
  if (DATABASE_URL === undefined) throw new Error("Set DATABASE_URL to an empty database.");
  if (!(await stat(join(DATA_DIR, "postgres")).catch(() => null)))
    throw new Error(`There is no embedded database in ${DATA_DIR}. Set DATA_DIR.`);
  await refuseServer(DATABASE_URL);
  const embedded = await startEmbedded({ dataDir: DATA_DIR });
  try {
    for (const url of [embedded.url, DATABASE_URL]) {
      await refuseRunning(url);
      await migrate({ url, environment: ENVIRONMENT });
    }
    const rows = await copyAll(embedded.url, DATABASE_URL);
    say(
      `Copied ${rows} rows. Start the service with this DATABASE_URL and the same secrets, and never on the old database again.`,
    );
  } finally {
    await embedded.stop();
  }
} catch (error) {
  say(toldCauses(error));
  process.exitCode = 1;
}
