import { sql, type Table } from "drizzle-orm";
import { database } from "#lib/db/client.ts";

/** During `work`, statements of this kind on the table fail as they do while the database starts. */
export async function whileAway<T>(kind: "DELETE" | "UPDATE", table: Table, work: () => Promise<T>): Promise<T> {
  await database().execute(sql`
    CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'away' USING ERRCODE = '57P03'; END $$`);
  const before = sql.raw(`BEFORE ${kind}`);
  await database().execute(sql`CREATE TRIGGER away ${before} ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION away()`);
  try {
    return await work();
  } finally {
    await database().execute(sql`DROP FUNCTION away CASCADE`);
  }
}
