import type { PendingQuery, Row } from "postgres";
import type { Sql } from "#lib/db/sql.ts";

/** The type `id` is text that is not empty and has no SEPARATOR, NULL or FIELD; `json text` is JSON in a text column. */
export type Column<T> = readonly [name: string, type: string, read: (row: T) => string | null];

/** No joined value contains these control characters: ids are checked, and JSON escapes them. NULL stands for SQL's NULL. */
const SEPARATOR = "\u0001";
const NULL = "\u0002";
/** Between the values of one row. */
const FIELD = "\u0003";

/** Only free text may contain a separator, so it is sent as an array, which takes longer to escape and to parse. */
const isJoined = (type: string): boolean => type !== "text";

function cast(type: string, parameter: string): string {
  if (!isJoined(type)) return `${parameter}::text[]`;
  const texts = `string_to_array(${parameter}::text, E'\\x01', E'\\x02')`;
  return type === "id" || type === "json text" ? texts : `${texts}::${type}[]`;
}

/** An id with a separator would be read as two ids, and all later rows would get the values of other rows. */
function unmistakable(column: string, text: string): string {
  if (text !== "" && !text.includes(SEPARATOR) && !text.includes(NULL) && !text.includes(FIELD)) return text;
  throw new RangeError(`An id for ${column} is empty or has control characters.`);
}

/** For `string_to_array($1, chr(1))`. A single empty text finds nothing, because it becomes an empty array. */
export function joined(texts: readonly string[]): string {
  if (texts.some((text) => text.includes(SEPARATOR))) throw new RangeError("What is looked up has a control character.");
  return texts.join(SEPARATOR);
}

function fieldOf<T>([column, type, read]: Column<T>, row: T): string {
  const text = read(row);
  return text === null ? NULL : type === "id" ? unmistakable(column, text) : text;
}

const valueOf = <T>(column: Column<T>, rows: readonly T[]): string | (string | null)[] =>
  isJoined(column[1]) ? rows.map((row) => fieldOf(column, row)).join(SEPARATOR) : rows.map(column[2]);

/** The number of parameters depends only on the columns, so one prepared statement serves any number of rows. */
export type BulkSource<T> = {
  readonly names: string;
  /** The SQL expression for the FROM clause. */
  readonly source: string;
  readonly values: (rows: readonly T[]) => (string | (string | null)[])[];
  /** The number of the last parameter. */
  readonly last: number;
};

/** `name` and the column names become part of the SQL text, so they must be constants in the code and never input. */
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

/** Like `given`, but faster for many columns: the values of a row are one text. No column has the type `text`. */
export function givenRows<T>(name: string, columns: readonly Column<T>[], offset = 0): BulkSource<T> {
  const names = columns.map(([column]) => column).join(", ");
  const [apart, within] = [
    columns.filter(([, type]) => type === "json text"),
    columns.filter(([, type]) => type !== "json text"),
  ];
  const texts = apart.map(([, type], index) => cast(type, `$${offset + index + 2}`));
  const rows = [`string_to_array($${offset + 1}::text, E'\\x01')`, ...texts].join(", ");
  const read = ["t", ...apart.map(([column]) => `${column}_text`)].join(", ");
  const selected = columns.map((one) => {
    const [column, type] = one;
    if (type === "json text") return `${column}_text`;
    const value = `r[${within.indexOf(one) + 1}]`;
    return type === "id" ? value : `${value}::${type}`;
  });
  return {
    names,
    // OFFSET 0 makes PostgreSQL split the text of a row once, and not once for each column.
    source: `(SELECT ${selected.join(", ")} FROM (
        SELECT string_to_array(t, E'\\x03', E'\\x02') AS r, * FROM unnest(${rows}) AS w(${read}) OFFSET 0) AS x)
      AS ${name}(${names})`,
    values: (list) => [
      list.map((row) => within.map((column) => fieldOf(column, row)).join(FIELD)).join(SEPARATOR),
      ...apart.map((column) => valueOf(column, list)),
    ],
    last: offset + 1 + apart.length,
  };
}

/** The table, the columns and `tail` become part of the SQL text, so they must be constants in the code and never input. */
export function bulkInsert<T>(table: string, columns: readonly Column<T>[], tail = "") {
  const { names, source, values } = given("given", columns);
  const text = `INSERT INTO ${table} (${names}) SELECT * FROM ${source} ${tail}`;
  return (c: Sql, rows: readonly T[]): PendingQuery<Row[]> => c.unsafe(text, values(rows), { prepare: true });
}
