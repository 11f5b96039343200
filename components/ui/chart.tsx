import { ChartColumns } from "./chart-columns.tsx";
import { EmptyFigure, FigureTable } from "./figure-parts.tsx";
import { Money, money } from "./money.tsx";

type Series = {
  readonly key: string;
  readonly name: string;
};

export type ChartRow = {
  readonly label: string;
  /** The longer label for the table and the tooltip. */
  readonly name: string;
  /** Decimal text by the key of the series. */
  readonly amounts: Readonly<Record<string, string>>;
};

export type ChartProps = {
  readonly title: string;
  readonly unit: string;
  readonly rowName: string;
  /** At most two. The second is for amounts that a person approved. */
  readonly series: readonly Series[];
  readonly rows: readonly ChartRow[];
  readonly empty: string;
  readonly limit?: { readonly name: string; readonly amount: string };
};

const ENTRY = "inline-flex items-center gap-2";

function Legend({ series, limit }: Pick<ChartProps, "series" | "limit">) {
  if (series.length < 2 && limit === undefined) return null;
  return (
    <p className="flex flex-wrap gap-x-5 gap-y-1 text-sm text-muted">
      {series.map(({ key, name }, index) => (
        <span key={key} className={ENTRY}>
          <i className={`size-3 rounded-[1px] ${index === 0 ? "bg-bar-used" : "bg-accent"}`} aria-hidden />
          {name}
        </span>
      ))}
      {limit && (
        <span className={ENTRY}>
          <i className="w-4.5 border-t-2 border-dashed border-caution" aria-hidden />
          {limit.name}
        </span>
      )}
    </p>
  );
}

/** The table shows the amounts as exact text; only the drawing uses numbers. */
export function Chart(props: ChartProps) {
  const { title, unit, rowName, series, rows, empty, limit } = props;
  if (rows.every(({ amounts }) => series.every(({ key }) => Number(amounts[key] ?? 0) === 0)))
    return <EmptyFigure>{empty}</EmptyFigure>;
  return (
    <figure className="grid grid-cols-1 gap-3">
      <Legend series={series} {...(limit && { limit })} />
      <figcaption className="sr">{title}</figcaption>
      <div aria-hidden>
        <ChartColumns {...props} />
      </div>
      <FigureTable
        caption={title}
        columns={[
          { name: rowName, cell: (row: ChartRow) => row.name },
          ...series.map(({ key, name }) => ({
            name,
            numeric: true,
            cell: (row: ChartRow) => {
              const amount = row.amounts[key];
              return amount === undefined ? "–" : <Money>{money(amount, unit)}</Money>;
            },
          })),
        ]}
        rows={rows}
        rowKey={(row) => row.name}
      />
    </figure>
  );
}
