"use client";

import dynamic from "next/dynamic";
import { Ledger } from "./ledger.tsx";
import { Money, money } from "./money.tsx";

export type Series = {
  /** The key of its amounts in the rows. */
  readonly key: string;
  readonly name: string;
};

export type ChartRow = {
  /** A day, a week, an agent: what stands below the columns. */
  readonly label: string;
  /** The same, longer, where there is room: in the table and when pointed at. */
  readonly name: string;
  /** Decimal text by series. */
  readonly amounts: Readonly<Record<string, string>>;
};

export type ChartProps = {
  /** Says what is to be seen: "Revenue by day. Highest on 19 November." */
  readonly title: string;
  readonly unit: string;
  /** What a row is: "Day". */
  readonly rowName: string;
  /** One or two; the second is in signing blue: what a person has approved. */
  readonly series: readonly Series[];
  readonly rows: readonly ChartRow[];
  /** A line to stay below, as decimal text with its name. */
  readonly limit?: { readonly name: string; readonly amount: string };
};

/** The drawing library is large: it comes when a chart does, and never holds up the page. */
const Columns = dynamic(() => import("./chart-columns.tsx").then((module) => module.ChartColumns), {
  ssr: false,
  loading: () => <div className="chart" aria-busy />,
});

function Legend({ series, limit }: Pick<ChartProps, "series" | "limit">) {
  if (series.length < 2 && limit === undefined) return null;
  return (
    <p className="legend">
      {series.map(({ key, name }, index) => (
        <span key={key}>
          <i className={index === 0 ? "" : "second"} aria-hidden />
          {name}
        </span>
      ))}
      {limit && (
        <span>
          <i className="dash" aria-hidden />
          {limit.name}
        </span>
      )}
    </p>
  );
}

/**
 * Amounts as columns, with the same in a table. Amounts become numbers for the picture only.
 *
 *     <Chart title="Revenue by day. Highest on 19 November." unit="USDC" rowName="Day"
 *       series={[{ key: "revenue", name: "Revenue" }]}
 *       rows={[{ label: "1", name: "1 November", amounts: { revenue: "22" } }]} />
 */
export function Chart(props: ChartProps) {
  const { title, unit, rowName, series, rows, limit } = props;
  return (
    <figure className="grid grid-cols-1 gap-3">
      <Legend series={series} {...(limit && { limit })} />
      <figcaption className="sr">{title}</figcaption>
      <div aria-hidden>
        <Columns {...props} />
      </div>
      <details>
        <summary>Show as table</summary>
        <Ledger
          compact
          caption={title}
          columns={[
            { name: rowName, cell: (row: ChartRow) => row.name },
            ...series.map(({ key, name }) => ({
              name,
              numeric: true,
              cell: (row: ChartRow) => <Money>{money(row.amounts[key] ?? "0", unit)}</Money>,
            })),
          ]}
          rows={rows}
          rowKey={(row) => row.name}
        />
      </details>
    </figure>
  );
}
