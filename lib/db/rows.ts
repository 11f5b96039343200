import { getTableColumns, type InferInsertModel, type InferSelectModel } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Row } from "postgres";
import type { Column } from "#lib/db/bulk.ts";
import { toWire } from "#lib/time.ts";

export const columnNames = (table: PgTable): string =>
  Object.values(getTableColumns(table))
    .map((column) => column.name)
    .join(", ");

/** Amounts are selected as text, because JSON numbers lose digits. */
export const jsonColumns = (table: PgTable): string =>
  Object.values(getTableColumns(table))
    .map((column) => (column.getSQLType().startsWith("numeric") ? `${column.name}::text` : column.name))
    .join(", ");

export const readRow = <T extends PgTable>(table: T, row: Row): InferSelectModel<T> =>
  Object.fromEntries(
    Object.entries(getTableColumns(table)).map(([key, column]) => {
      const value: unknown = row[column.name] ?? null;
      return [key, value === null ? null : column.mapFromDriverValue(value)];
    }),
  ) as InferSelectModel<T>;

/** The row may come from the driver or from JSON with amounts as text. */
export function readerOf<T extends PgTable, const K extends keyof InferSelectModel<T> & string>(
  table: T,
  keys: readonly K[],
): (row: Row) => Pick<InferSelectModel<T>, K> {
  const all = getTableColumns(table) as Readonly<Record<string, PgColumn>>;
  const columns = keys.map((key) => [key, all[key]!] as const);
  return (row) => {
    const read: Record<string, unknown> = {};
    for (const [key, column] of columns) {
      const value: unknown = row[column.name] ?? null;
      read[key] = value === null ? null : column.mapFromDriverValue(value);
    }
    return read as Pick<InferSelectModel<T>, K>;
  };
}

/** For json_populate_recordset. PostgreSQL refuses NUL and lone surrogates in this text. */
export const writeRows = <T extends PgTable>(table: T, rows: readonly InferSelectModel<T>[]): string => {
  const columns = Object.entries(getTableColumns(table));
  const named = rows.map((row) => Object.fromEntries(columns.map(([key, { name }]) => [name, row[key as keyof typeof row]])));
  return JSON.stringify(named, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
};

type Readers<T, P extends PgTable> = { readonly [K in keyof InferInsertModel<P>]: (row: T) => InferInsertModel<P>[K] };

/** Made once per column, because asking the column's definition for each value costs CPU time. */
function textWriter(column: PgColumn): (value: unknown) => string | null {
  const write: (value: unknown) => string =
    column.columnType === "PgText"
      ? (value) => value as string
      : column.columnType === "PgTimestamp"
        ? (value) => toWire(value as Date)
        : (value) => String(column.mapToDriverValue(value));
  return (value) => (value === null || value === undefined ? null : write(value));
}

/** In the table's order. The columns in `json` contain JSON as text; every other text is sent as the type `id` (see Column). */
export function columnsOf<T, P extends PgTable>(
  table: P,
  readers: Readers<T, P>,
  json: readonly (keyof Readers<T, P>)[] = [],
): Column<T>[] {
  const readerOf = readers as Readonly<Record<string, (row: T) => unknown>>;
  return Object.entries(getTableColumns(table)).flatMap(([key, column]): Column<T>[] => {
    const read = readerOf[key];
    if (!read) return [];
    const type = column.getSQLType();
    const named = type !== "text" ? type : json.includes(key as keyof Readers<T, P>) ? "json text" : "id";
    const write = textWriter(column);
    return [[column.name, named, (row) => write(read(row))]];
  });
}

/** For rows whose text and JSON may have any characters but NUL. */
export const allColumns = <P extends PgTable>(table: P): Column<InferSelectModel<P>>[] =>
  Object.entries(getTableColumns(table)).map(([key, column]) => {
    const write = textWriter(column);
    return [column.name, column.getSQLType(), (row) => write(row[key as keyof InferSelectModel<P>])];
  });
