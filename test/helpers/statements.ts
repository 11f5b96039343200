import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import type { FunctionFacts } from "../../scripts/judge-statements.ts";

/** The statements of the last run of the tests, for scripts/statements.ts. */
export const STATEMENTS = join(import.meta.dirname, "../../.test/statements.json");

async function asking<T>(url: string, ask: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await ask(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

const settings = {
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.max": "10000",
  "pg_stat_statements.track_utility": "off",
  "pg_stat_statements.save": "off",
};

/** Makes PostgreSQL note its statements, from its next start on. Returns whether it does so already. */
export const notesStatements = (url: string): Promise<boolean> =>
  asking(url, async (sql) => {
    const [row] = await sql<{ loaded: string }[]>`SELECT current_setting('shared_preload_libraries') AS loaded`;
    if (row?.loaded !== "") return true;
    for (const [name, value] of Object.entries(settings)) await sql.unsafe(`ALTER SYSTEM SET ${name} = '${value}'`);
    return false;
  });

/** Statements of runs at the same time are kept apart by the name of the run. */
export const beginToNote = (url: string, run: string): Promise<unknown> =>
  asking(url, async (sql) => {
    await sql.unsafe("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
    await sql.unsafe(`CREATE UNLOGGED TABLE ${run} (hash text PRIMARY KEY, query text NOT NULL)`);
  });

/** What keeps the noted statements of one database, before it is dropped. Sorted, or two files that end at once could deadlock. */
export const keepNoted = (run: string, database: string): readonly string[] => [
  `INSERT INTO ${run} SELECT md5(query), query FROM pg_stat_statements
   WHERE dbid = (SELECT oid FROM pg_database WHERE datname = '${database}') ORDER BY 1 ON CONFLICT DO NOTHING`,
  `SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = '${database}'`,
];

/** The functions of PostgreSQL and of a migrated database. */
export const functionsOf = (url: string): Promise<Readonly<Record<string, FunctionFacts>>> =>
  asking(url, async (sql) => {
    const rows = await sql<(FunctionFacts & { name: string })[]>`
      SELECT proname AS name, bool_or(pronamespace = 'public'::regnamespace) AS ours,
        CASE WHEN bool_or(provolatile = 'v') THEN 'volatile' WHEN bool_or(provolatile = 's') THEN 'stable' ELSE 'immutable' END AS volatility
      FROM pg_proc WHERE pronamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace) AND prorettype <> 'trigger'::regtype
      GROUP BY proname`;
    return Object.fromEntries(rows.map(({ name, ...facts }) => [name, facts]));
  });

export const writeNoted = (url: string, run: string, template: string): Promise<unknown> =>
  asking(url, async (sql) => {
    const [lost] = await sql<{ count: number }[]>`SELECT dealloc::int AS count FROM pg_stat_statements_info`;
    const rows = await sql.unsafe<{ query: string }[]>(`SELECT query FROM ${run} ORDER BY query`);
    await sql.unsafe(`DROP TABLE ${run}`);
    const at = new URL(url);
    at.pathname = template;
    const noted = { lost: lost?.count ?? 0, functions: await functionsOf(at.href), statements: rows.map(({ query }) => query) };
    await mkdir(join(STATEMENTS, ".."), { recursive: true });
    await writeFile(STATEMENTS, JSON.stringify(noted));
  });
