"use client";

import { Bar, BarChart, CartesianGrid, ReferenceLine, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import type { ChartProps, ChartRow } from "./chart.tsx";
import { money } from "./money.tsx";

const HEIGHT = 220;
const fills = ["var(--color-bar-used)", "var(--color-accent)"] as const;

type TipProps = Pick<ChartProps, "series" | "unit"> & {
  readonly active?: boolean;
  readonly payload?: readonly { readonly payload?: ChartRow }[];
};

function Tip({ active, payload, series, unit }: TipProps) {
  const row = payload?.[0]?.payload;
  if (!active || !row) return null;
  return (
    <div className="grid rounded-sm border bg-raised px-3 py-2 text-sm tabular-nums shadow-float">
      <strong>{row.name}</strong>
      {series.map(({ key, name }) => (
        <span key={key}>
          {name} {row.amounts[key] === undefined ? "–" : money(row.amounts[key], unit)}
        </span>
      ))}
    </div>
  );
}

/** The columns of a Chart. */
export function ChartColumns({ series, rows, unit, limit }: ChartProps) {
  return (
    <ResponsiveContainer
      className="[&_text]:fill-muted [&_text]:font-sans [&_text]:text-xs [&_text]:tabular-nums"
      width="100%"
      height={HEIGHT}
    >
      <BarChart data={[...rows]} margin={{ top: 8, right: 24, bottom: 0, left: 0 }} accessibilityLayer={false}>
        <CartesianGrid vertical={false} stroke="var(--color-border)" />
        <XAxis
          dataKey="label"
          tickLine={false}
          axisLine={{ stroke: "var(--color-text)" }}
          interval="preserveStartEnd"
          minTickGap={12}
        />
        <YAxis tickLine={false} axisLine={false} width="auto" tickCount={5} />
        <Tooltip
          cursor={{ fill: "var(--color-sunken)" }}
          isAnimationActive={false}
          content={<Tip series={series} unit={unit} />}
        />
        {series.map(({ key, name }, index) => (
          <Bar
            key={key}
            dataKey={(row: ChartRow) => Number(row.amounts[key] ?? 0)}
            name={name}
            stackId="amount"
            fill={fills[index] ?? fills[0]}
            maxBarSize={28}
            isAnimationActive={false}
          />
        ))}
        {limit && (
          <ReferenceLine
            y={Number(limit.amount)}
            stroke="var(--color-caution)"
            strokeWidth={1.5}
            strokeDasharray="5 4"
            ifOverflow="extendDomain"
          />
        )}
      </BarChart>
    </ResponsiveContainer>
  );
}
