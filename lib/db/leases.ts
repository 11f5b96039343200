import { sql, type AnyColumn, type SQL } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";

/** Counted from the arrival of the statement, which is later than the locks of the statements before it (ADR 0060). */
export const after = (milliseconds: number): SQL => sql`statement_timestamp() + ${milliseconds} * interval '1 millisecond'`;

/** Stored times are rounded, so a due time can be a little later than its longest time after now. */
const ROUNDED_MS = 1_000;
/** A statement may wait for a lock until its statement_timeout, and then finds a lease that was taken after its own time. */
const WAITED_MS = 7_000;

/** Where the present time stands in a statement: it is `ms` milliseconds before `at`. */
type Now = { readonly at: SQL; readonly ms: number };

/**
 * Nobody has the lease any more. A lease that ends later than any can was taken while the database's clock ran ahead, and
 * would otherwise last until the clock gets there. Its holder may still work, so two holders must do no harm.
 */
export const leaseEnded = (
  until: AnyColumn,
  longestMs: number,
  { at, ms }: Now = { at: sql`statement_timestamp()`, ms: 0 },
): SQL =>
  sql`(${until} IS NULL OR ${until} - ${at} NOT BETWEEN ${-ms} * interval '1 millisecond'
    AND ${longestMs + WAITED_MS - ms} * interval '1 millisecond')`;

/** Less than `milliseconds` ago, or ahead: a clock that was set back a little changes nothing, and one that ran far ahead ends it. */
export const isRecent = (at: AnyColumn, milliseconds: number): SQL =>
  sql`${at} BETWEEN ${after(-milliseconds)} AND ${after(milliseconds)}`;

/** When a row of a queue is due. `where` is the condition of the index on the column. */
export type DueTime = { readonly column: AnyColumn; readonly where: SQL; readonly longest: SQL | number };

export const ROWS = 1_000;

/** Locks at most ROWS rows that nobody has locked. Returns their places, which stay the same until this transaction changes them. */
export async function lockFree(tx: Tx, { table }: AnyColumn, which: SQL): Promise<string[]> {
  const rows = await tx.execute(
    sql`SELECT ctid::text AS place FROM ${table} WHERE ${which} LIMIT ${ROWS} FOR UPDATE SKIP LOCKED`,
  );
  return rows.map((row) => String(row["place"]));
}

/**
 * Makes rows due now whose time is later than `longest` milliseconds from now, which only a clock that ran ahead can store.
 * Rows that somebody has locked are left for the next call.
 */
export const bringForward = ({ column, where, longest }: DueTime): Promise<number> =>
  database().transaction(async (tx) => {
    const moved = await lockFree(
      tx,
      column,
      sql`${where} AND ${column} > (SELECT clock_timestamp()) + (${longest}::float8 + ${ROUNDED_MS}::float8) * interval '1 millisecond'`,
    );
    if (moved.length > 0)
      await tx.execute(sql`
        UPDATE ${column.table} SET ${sql.identifier(column.name)} = statement_timestamp() WHERE ctid = ANY(${sql.param(moved)}::text[]::tid[])`);
    return moved.length;
  });
