import type { PendingQuery, ReservedSql, Row } from "postgres";

/** A column of a bulk statement: its name, its element type, and how a row gives its text. `json text` is JSON in a column of text. */
export type Column<T> = readonly [name: string, type: string, read: (row: T) => string | null];

/** Neither stands in JSON, which escapes control characters. */
const SEPARATOR = "\u0001";
const NULL = "\u0002";

/**
 * JSON travels as one text per column. As an array it would be escaped by the driver and unescaped by the server, quote
 * by quote, which took longer than the INSERT itself.
 */
const casts = (type: string, index: number): string => {
  const parameter = `$${index + 1}`;
  if (!type.startsWith("json")) return `${parameter}::text[]::${type}[]`;
  return `string_to_array(${parameter}::text, E'\\x01', E'\\x02')${type === "json" ? "::json[]" : ""}`;
};

const parameterOf = <T>([, type, read]: Column<T>, rows: readonly T[]): string | (string | null)[] =>
  type.startsWith("json") ? rows.map((row) => read(row) ?? NULL).join(SEPARATOR) : rows.map(read);

/**
 * An INSERT of any number of rows with one prepared statement. Table, columns and tail are constants of the code, never
 * input.
 */
export function bulkInsert<T>(table: string, columns: readonly Column<T>[], tail = "") {
  const names = columns.map(([name]) => name).join(", ");
  const arrays = columns.map(([, type], index) => casts(type, index)).join(", ");
  const text = `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays}) AS given(${names}) ${tail}`;
  return (c: ReservedSql, rows: readonly T[]): PendingQuery<Row[]> =>
    c.unsafe(
      text,
      columns.map((column) => parameterOf(column, rows)),
      { prepare: true },
    );
}
