import type { PendingQuery, Row } from "postgres";
import type { Sql } from "#lib/db/sql.ts";

/**
 * A column of a bulk statement: its name, its element type, and a function that reads its text from a row. The type `id` is text that is
 * never empty and has no control characters, such as an id, a hash or a code. The type `json text` is JSON in a text column.
 */
export type Column<T> = readonly [name: string, type: string, read: (row: T) => string | null];

/** The separators between joined values and for NULL. No value contains them: ids are checked, and JSON escapes control characters. */
const SEPARATOR = "\u0001";
const NULL = "\u0002";

/**
 * Whether a column is sent as one joined text. Only free text is sent as an array, because it may contain any character. An array is
 * escaped by the driver and unescaped by the server: for JSON that took longer than the INSERT itself, and for ids a tenth of it.
 */
const isJoined = (type: string): boolean => type !== "text";

function cast(type: string, parameter: string): string {
  if (!isJoined(type)) return `${parameter}::text[]`;
  const texts = `string_to_array(${parameter}::text, E'\\x01', E'\\x02')`;
  return type === "id" || type === "json text" ? texts : `${texts}::${type}[]`;
}

/** The last check of an id. An id with a separator would be read as two ids, and every later row would get another row's value. */
function unmistakable(column: string, text: string): string {
  if (text !== "" && !text.includes(SEPARATOR) && !text.includes(NULL)) return text;
  throw new RangeError(`An id for ${column} is empty or has control characters.`);
}

/** Joins look-up values into one parameter for `string_to_array($1, chr(1))`. An empty text matches nothing. */
export function joined(texts: readonly string[]): string {
  if (texts.some((text) => text.includes(SEPARATOR))) throw new RangeError("What is looked up has a control character.");
  return texts.join(SEPARATOR);
}

function valueOf<T>([column, type, read]: Column<T>, rows: readonly T[]): string | (string | null)[] {
  if (!isJoined(type)) return rows.map(read);
  const texts = rows.map((row) => {
    const text = read(row);
    return text === null ? NULL : type === "id" ? unmistakable(column, text) : text;
  });
  return texts.join(SEPARATOR);
}

/** Rows as statement parameters, one per column, so that one prepared statement serves any number of rows. */
export type BulkSource<T> = {
  readonly names: string;
  /** The expression for the FROM clause. */
  readonly source: string;
  readonly values: (rows: readonly T[]) => (string | (string | null)[])[];
  /** The number of the last parameter of the statement so far, which is `offset` for the next source. */
  readonly last: number;
};

/**
 * Makes a source of rows for a statement. `name` and the column names go into the SQL text, so they must be constants of the code and never
 * input.
 */
export function given<T>(name: string, columns: readonly Column<T>[], offset = 0): BulkSource<T> {
  const names = columns.map(([column]) => column).join(", ");
  const arrays = columns.map(([, type], index) => cast(type, `$${offset + index + 1}`)).join(", ");
  return {
    names,
    source: `unnest(${arrays}) AS ${name}(${names})`,
    values: (rows) => columns.map((column) => valueOf(column, rows)),
    last: offset + columns.length,
  };
}

/**
 * An INSERT of any number of rows with one prepared statement. Table, columns and tail go into the SQL text, so they must be constants of
 * the code and never input.
 */
export function bulkInsert<T>(table: string, columns: readonly Column<T>[], tail = "") {
  const { names, source, values } = given("given", columns);
  const text = `INSERT INTO ${table} (${names}) SELECT * FROM ${source} ${tail}`;
  return (c: Sql, rows: readonly T[]): PendingQuery<Row[]> => c.unsafe(text, values(rows), { prepare: true });
}
