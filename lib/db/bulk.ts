import type { PendingQuery, ReservedSql, Row } from "postgres";

/** A column of a bulk statement: its name, its element type, and how a row gives its text. */
export type Column<T> = readonly [name: string, type: string, read: (row: T) => string | null];

/**
 * An INSERT of any number of rows with one prepared statement: every column travels as one array. Table, columns and
 * tail are constants of the code, never input.
 */
export function bulkInsert<T>(table: string, columns: readonly Column<T>[], tail = "") {
  const names = columns.map(([name]) => name).join(", ");
  const arrays = columns.map(([, type], index) => `$${index + 1}::text[]::${type}[]`).join(", ");
  const text = `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays}) AS given(${names}) ${tail}`;
  return (c: ReservedSql, rows: readonly T[]): PendingQuery<Row[]> =>
    c.unsafe(
      text,
      columns.map(([, , read]) => rows.map(read)),
      { prepare: true },
    );
}
