import { getTableColumns, type InferSelectModel } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Row } from "postgres";

/* Rows as JSON, for statements that drizzle does not build. Columns and conversions come from the table's definition. */

export const columnNames = (table: PgTable): string =>
  Object.values(getTableColumns(table))
    .map((column) => column.name)
    .join(", ");

/** The columns of a SELECT whose rows become JSON. Amounts are text, because JSON numbers are not exact. */
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

/** The rows as JSON text for json_populate_recordset. */
export const writeRows = <T extends PgTable>(table: T, rows: readonly InferSelectModel<T>[]): string => {
  const columns = Object.entries(getTableColumns(table));
  const named = rows.map((row) => Object.fromEntries(columns.map(([key, { name }]) => [name, row[key as keyof typeof row]])));
  return JSON.stringify(named, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
};
