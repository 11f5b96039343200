import { sql, type AnyColumn, type SQL } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { lockFree, ROWS } from "#lib/db/leases.ts";

/**
 * Deletes the rows for which `which` is true and whose time is more than `days` days ago, in transactions that each delete few
 * rows and wait for no lock. Returns their number.
 */
export async function deleteOld(time: AnyColumn, days: number, which: SQL = sql`true`): Promise<number> {
  for (let gone = 0; ;) {
    const rows = await database().transaction(async (tx) => {
      // The present time comes from a subquery, because PostgreSQL uses no index for a comparison with a volatile function.
      const old = await lockFree(tx, time, sql`${time} < (SELECT clock_timestamp() - ${days} * interval '1 day') AND ${which}`);
      if (old.length > 0) await tx.execute(sql`DELETE FROM ${time.table} WHERE ctid = ANY(${sql.param(old)}::text[]::tid[])`);
      return old.length;
    });
    gone += rows;
    if (rows < ROWS) return gone;
  }
}
