import Link from "next/link";
import type { ReactNode } from "react";
import { RowKeys } from "./row-keys.tsx";
import { role } from "./table-roles.ts";

export type Column<R> = {
  /** The heading of the column, which is the label of the value on small screens. */
  readonly name: string;
  /**
   * Renders the cell. In a column after the first, small screens leave out a value that is null, undefined or an empty text.
   */
  readonly cell: (row: R) => ReactNode;
  /** Aligns numbers to the right, with digits of equal width. */
  readonly numeric?: boolean;
  /** Whether the column has buttons. Then it has no label on small screens, and only screen readers read its heading. */
  readonly actions?: boolean;
};

export type LedgerProps<R> = {
  /** A description of the table for screen readers. */
  readonly caption: string;
  /** The columns. The cells of the first column are the headings of their rows. */
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly rowKey: (row: R) => string;
  /** The address that a row links to. The whole row can be clicked. */
  readonly href?: (row: R) => string;
  /** Less padding, for tables inside a panel. Such a table stays a table on small screens, and `dense` has no effect on it. */
  readonly compact?: boolean;
  /** Lower rows, so that more rows fit on the screen. */
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

/**
 * A table. Unless it is compact, each row becomes an entry on small screens, with labels on the left and values on the right.
 *
 *     <Ledger
 *       caption="Payments"
 *       columns={[
 *         { name: "Seller", cell: (row) => <Untrusted>{row.domain}</Untrusted> },
 *         { name: "Amount", cell: (row) => <Money>{money(row.amount, row.asset)}</Money>, numeric: true },
 *       ]}
 *       rows={page.items}
 *       rowKey={(row) => row.authorizationId}
 *       href={(row) => `/payments/${row.authorizationId}`}
 *     />
 *
 * It renders on the server and in client components. Buttons in a row are above the row's link and stay clickable.
 */
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
