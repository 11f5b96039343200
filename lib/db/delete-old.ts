import { sql, type AnyColumn, type SQL } from "drizzle-orm";
import { database } from "#lib/db/client.ts";

const ROWS = 1_000;

/**
 * Deletes the rows for which `which` is true and whose time is more than `days` days ago, in statements that each delete few rows
 * and wait for no lock. Returns their number.
 */
export async function deleteOld(time: AnyColumn, days: number, which: SQL = sql`true`): Promise<number> {
  for (let gone = 0; ;) {
    // The present time comes from a subquery, because PostgreSQL uses no index for a comparison with a volatile function.
    const rows = await database().execute(sql`
      DELETE FROM ${time.table} WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM ${time.table} WHERE ${time} < (SELECT clock_timestamp() - ${days} * interval '1 day') AND ${which}
        LIMIT ${ROWS} FOR UPDATE SKIP LOCKED))
      RETURNING 1`);
    gone += rows.length;
    if (rows.length < ROWS) return gone;
  }
}
