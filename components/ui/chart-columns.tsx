import type { ChartProps, ChartRow } from "./chart.tsx";
import { scaleOf } from "./chart-scale.ts";
import { money } from "./money.tsx";

const fills = ["bg-bar-used", "bg-accent"] as const;
/** At most this many labels, because a phone is narrow. */
const LABELS = 5;

const percent = (share: number): string => `${(share * 100).toFixed(3)}%`;

type ColumnProps = Pick<ChartProps, "series" | "unit"> & { readonly row: ChartRow; readonly top: number; readonly late: boolean };

function Column({ row, series, unit, top, late }: ColumnProps) {
  return (
    <div className="group relative flex h-full min-w-0 flex-1 flex-col-reverse items-center hover:bg-sunken">
      {series.map(({ key }, index) => (
        <i
          key={key}
          className={`w-3/4 max-w-7 ${fills[index] ?? fills[0]}`}
          style={{ height: percent(Number(row.amounts[key] ?? 0) / top) }}
        />
      ))}
      <div
        className={`pointer-events-none absolute top-1 z-10 hidden w-max rounded-sm border bg-raised px-3 py-2 text-sm tabular-nums shadow-float group-hover:grid ${late ? "right-full" : "left-full"}`}
      >
        <strong>{row.name}</strong>
        {series.map(({ key, name }) => (
          <span key={key}>
            {name} {row.amounts[key] === undefined ? "–" : money(row.amounts[key], unit)}
          </span>
        ))}
      </div>
    </div>
  );
}

/** Labels every nth column only, because a phone has no room for all. */
function Labels({ rows }: Pick<ChartProps, "rows">) {
  const every = Math.ceil(rows.length / LABELS);
  return (
    <div className="flex h-6 pt-1">
      {rows.map((row, at) => (
        <span key={row.name} className="relative min-w-0 flex-1">
          {at % every === 0 && (
            <span className={`absolute whitespace-nowrap ${rows.length > LABELS ? "left-0" : "left-1/2 -translate-x-1/2"}`}>
              {row.label}
            </span>
          )}
        </span>
      ))}
    </div>
  );
}

/** Plain HTML elements need no script and have their size from the start, so the layout does not shift. */
export function ChartColumns({ series, rows, unit, limit }: ChartProps) {
  const sums = rows.map(({ amounts }) => series.reduce((sum, { key }) => sum + Number(amounts[key] ?? 0), 0));
  const { top, ticks } = scaleOf(Math.max(...sums, Number(limit?.amount ?? 0)));
  return (
    <div className="grid h-55 grid-cols-[auto_minmax(0,1fr)] grid-rows-[minmax(0,1fr)_auto] gap-x-2 pt-2 text-xs text-muted tabular-nums">
      <div className="relative grid justify-items-end">
        {/* These invisible texts have no height. They make the column as wide as its longest tick. */}
        {ticks.map((tick) => (
          <span key={tick} className="invisible col-start-1 row-start-1 h-0">
            {tick}
          </span>
        ))}
        {ticks.map((tick) => (
          <span key={tick} className="absolute right-0 translate-y-1/2 leading-none" style={{ bottom: percent(tick / top) }}>
            {tick}
          </span>
        ))}
      </div>
      <div className="relative border-b border-text">
        {ticks.slice(1).map((tick) => (
          <i key={tick} className="absolute inset-x-0 border-t" style={{ bottom: percent(tick / top) }} />
        ))}
        <div className="absolute inset-0 flex">
          {rows.map((row, at) => (
            <Column key={row.name} row={row} series={series} unit={unit} top={top} late={at > rows.length / 2} />
          ))}
        </div>
        {limit && (
          <i
            className="absolute inset-x-0 border-t-2 border-dashed border-caution"
            style={{ bottom: percent(Number(limit.amount) / top) }}
          />
        )}
      </div>
      <div className="col-start-2">
        <Labels rows={rows} />
      </div>
    </div>
  );
}
