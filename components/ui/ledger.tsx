import Link from "next/link";
import type { ReactNode } from "react";
import { RowKeys } from "./row-keys.tsx";
import { role } from "./table-roles.ts";

export type Column<R> = {
  readonly name: string;
  /** In a column after the first, small screens leave out a value that is null, undefined or an empty text. */
  readonly cell: (row: R) => ReactNode;
  readonly numeric?: boolean;
  /** Whether the column has buttons; then only screen readers read its heading. */
  readonly actions?: boolean;
};

export type LedgerProps<R> = {
  readonly caption: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly rowKey: (row: R) => string;
  readonly href?: (row: R) => string;
  /** Less padding, for a table inside a panel. It stays a table on small screens, and `dense` has no effect. */
  readonly compact?: boolean;
  readonly dense?: boolean;
};

function Row<R>({ row, columns, href }: { readonly row: R } & Pick<LedgerProps<R>, "columns" | "href">) {
  return (
    <tr {...role.row} className={href && "link"}>
      {columns.map(({ name, cell, numeric, actions }, index) => {
        const value = cell(row);
        const empty = value === null || value === undefined || value === "";
        if (index === 0) {
          return (
            <th {...role.rowheader} scope="row" key={name}>
              {href ? (
                <Link className="row-link" href={href(row)} prefetch={false}>
                  {value}
                </Link>
              ) : (
                value
              )}
            </th>
          );
        }
        return (
          <td
            {...role.cell}
            key={name}
            className={actions ? "row-actions" : numeric ? "num" : undefined}
            {...(!actions && { "data-label": name })}
            {...(empty && { "data-empty": "" })}
          >
            {value}
          </td>
        );
      })}
    </tr>
  );
}

/** Without `compact`, each row becomes an entry with labels and values on small screens. */
export function Ledger<R>({ caption, columns, rows, rowKey, href, compact = false, dense = false }: LedgerProps<R>) {
  const entries = rows.map((row) => <Row key={rowKey(row)} row={row} columns={columns} {...(href && { href })} />);
  return (
    <table className={compact ? "ledger compact" : dense ? "ledger stacks dense" : "ledger stacks"} {...role.table}>
      <caption className="sr">{caption}</caption>
      <thead {...role.rowgroup}>
        <tr {...role.row}>
          {columns.map(({ name, numeric, actions }) => (
            <th {...role.columnheader} scope="col" key={name} className={numeric ? "num" : undefined}>
              {actions ? <span className="sr">{name}</span> : name}
            </th>
          ))}
        </tr>
      </thead>
      {href ? <RowKeys>{entries}</RowKeys> : <tbody {...role.rowgroup}>{entries}</tbody>}
    </table>
  );
}
