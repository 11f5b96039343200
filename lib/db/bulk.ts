import type { PendingQuery, ReservedSql, Row } from "postgres";

/** A column of a bulk statement: its name, its element type, and how a row gives its text. */
export type Column<T> = readonly [name: string, type: string, read: (row: T) => string | null];

/** Neither stands in any text that we write: ids are ASCII words, and JSON escapes control characters. */
const SEPARATOR = "\u0001";
const NULL = "\u0002";

/**
 * A column as one text. An array parameter would be escaped by the driver and unescaped by the server, element by
 * element: for columns of JSON that took longer than the INSERT itself.
 */
function join<T>(rows: readonly T[], [name, , read]: Column<T>): string {
  const values = rows.map((row) => read(row) ?? NULL);
  const text = values.join(SEPARATOR);
  let separators = 0;
  for (let at = text.indexOf(SEPARATOR); at >= 0; at = text.indexOf(SEPARATOR, at + 1)) separators += 1;
  if (text === "" || separators !== rows.length - 1) throw new RangeError(`The column ${name} cannot be written in bulk.`);
  return text;
}

/**
 * An INSERT of any number of rows with one prepared statement: every column travels as one text. Table, columns and
 * tail are constants of the code, never input.
 */
export function bulkInsert<T>(table: string, columns: readonly Column<T>[], tail = "") {
  const names = columns.map(([name]) => name).join(", ");
  const split = (index: number) => `string_to_array($${index + 1}::text, E'\\x01', E'\\x02')`;
  const arrays = columns.map(([, type], index) => `${split(index)}${type === "text" ? "" : `::${type}[]`}`).join(", ");
  const text = `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays}) AS given(${names}) ${tail}`;
  return (c: ReservedSql, rows: readonly T[]): PendingQuery<Row[]> =>
    c.unsafe(
      text,
      columns.map((column) => join(rows, column)),
      { prepare: true },
    );
}
