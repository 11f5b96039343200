import { sql } from "drizzle-orm";
import { database, pool } from "#lib/db/client.ts";

type Query = { toSQL(): { readonly sql: string; readonly params: unknown[] } };

/**
 * The tables that a query scans sequentially, and the indexes that it uses. It runs ANALYZE first. The tables must have so many
 * rows that PostgreSQL prefers an index.
 */
export async function planOf(query: Query, tables: readonly string[]): Promise<{ whole: string[]; indexes: string[] }> {
  for (const table of tables) await database().execute(sql.raw(`ANALYZE ${table}`));
  const { sql: text, params } = query.toSQL();
  const values = params.map((value) => (value instanceof Date ? value.toISOString() : value));
  const rows = await pool().unsafe(`EXPLAIN ${text}`, values as never[]);
  const plan = rows.map((row) => String(row["QUERY PLAN"])).join("\n");
  const found = (pattern: RegExp) => [...plan.matchAll(pattern)].map(([, name = ""]) => name.replaceAll('"', ""));
  return { whole: found(/Seq Scan on (\S+)/g), indexes: found(/Index (?:Only )?Scan (?:Backward )?(?:using|on) (\S+)/g) };
}
