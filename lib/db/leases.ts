import { getTableName, sql, type AnyColumn, type SQL } from "drizzle-orm";
import { database } from "#lib/db/client.ts";

export const after = (milliseconds: number): SQL => sql`clock_timestamp() + ${milliseconds} * interval '1 millisecond'`;

/** Stored times are rounded, so a lease can end a little later than its longest time after now. */
const ROUNDED_MS = 1_000;

/**
 * Nobody has the lease any more. A lease that ends later than any can was taken while the database's clock ran ahead, and
 * would otherwise last until the clock gets there. Its holder may still work, so two holders must do no harm.
 */
export const leaseEnded = (until: AnyColumn, longestMs: number): SQL =>
  sql`(${until} IS NULL OR ${until} NOT BETWEEN clock_timestamp() AND ${after(longestMs + ROUNDED_MS)})`;

/** Less than `milliseconds` ago, or ahead: a clock that was set back a little changes nothing, and one that ran far ahead ends it. */
export const isRecent = (at: AnyColumn, milliseconds: number): SQL =>
  sql`${at} BETWEEN ${after(-milliseconds)} AND ${after(milliseconds)}`;

/** When a row of a queue is due. `where` is the condition of the index on the column. */
export type DueTime = { readonly column: AnyColumn; readonly where: SQL; readonly longest: SQL | number };

const ROWS = 1_000;

/**
 * Makes rows due now whose time is later than `longest` milliseconds from now, which only a clock that ran ahead can store.
 * Rows that somebody has locked are left for the next call.
 */
export async function bringForward({ column, where, longest }: DueTime): Promise<number> {
  const table = sql.identifier(getTableName(column.table));
  const own = sql.identifier(column.name);
  const moved = await database().execute(sql`
    UPDATE ${table} SET ${own} = clock_timestamp() WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} WHERE ${where} AND ${own} > (SELECT clock_timestamp()) + (${longest}::float8 + ${ROUNDED_MS}::float8) * interval '1 millisecond'
      LIMIT ${ROWS} FOR UPDATE SKIP LOCKED)) RETURNING 1`);
  return moved.length;
}
