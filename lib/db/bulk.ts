import type { PendingQuery, Row } from "postgres";
import type { Sql } from "#lib/db/sql.ts";

/**
 * A column of a bulk statement: its name, its element type, and how a row gives its text. `id` is text that is never
 * empty and has no control characters, such as an id, a hash or a code; `json text` is JSON in a column of text.
 */
export type Column<T> = readonly [name: string, type: string, read: (row: T) => string | null];

/** Neither stands in what travels joined; JSON escapes control characters. */
const SEPARATOR = "\u0001";
const NULL = "\u0002";

/**
 * Free text alone travels as an array: what people write may have any character. An array is escaped by the driver and
 * unescaped by the server, quote by quote, which for JSON took longer than the INSERT itself, and for ids a tenth of it.
 */
const isJoined = (type: string): boolean => type !== "text";

function cast(type: string, parameter: string): string {
  if (!isJoined(type)) return `${parameter}::text[]`;
  const texts = `string_to_array(${parameter}::text, E'\\x01', E'\\x02')`;
  return type === "id" || type === "json text" ? texts : `${texts}::${type}[]`;
}

/** The last wall: one id that reads as two would hand every row after it what belongs to another. */
function unmistakable(column: string, text: string): string {
  if (text !== "" && !text.includes(SEPARATOR) && !text.includes(NULL)) return text;
  throw new RangeError(`An id for ${column} is empty or has control characters.`);
}

/** What is looked up, as one parameter that `string_to_array($1, chr(1))` reads. An empty text is nothing that could be found. */
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

/** Rows as parameters of a statement, one for each column: one prepared statement for lists of any length. */
export type Given<T> = {
  readonly names: string;
  /** Stands in FROM. */
  readonly source: string;
  readonly values: (rows: readonly T[]) => (string | (string | null)[])[];
  /** How many parameters come before and with it. */
  readonly last: number;
};

/** `name` and the names of columns are constants of the code, never input. */
export function given<T>(name: string, columns: readonly Column<T>[], after = 0): Given<T> {
  const names = columns.map(([column]) => column).join(", ");
  const arrays = columns.map(([, type], index) => cast(type, `$${after + index + 1}`)).join(", ");
  return {
    names,
    source: `unnest(${arrays}) AS ${name}(${names})`,
    values: (rows) => columns.map((column) => valueOf(column, rows)),
    last: after + columns.length,
  };
}

/**
 * An INSERT of any number of rows with one prepared statement. Table, columns and tail are constants of the code, never
 * input.
 */
export function bulkInsert<T>(table: string, columns: readonly Column<T>[], tail = "") {
  const { names, source, values } = given("given", columns);
  const text = `INSERT INTO ${table} (${names}) SELECT * FROM ${source} ${tail}`;
  return (c: Sql, rows: readonly T[]): PendingQuery<Row[]> => c.unsafe(text, values(rows), { prepare: true });
}
