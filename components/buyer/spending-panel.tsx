import Link from "next/link";
import { networkName } from "#lib/chains/network-name.ts";
import { Chart } from "#components/ui/chart.tsx";
import { money } from "#components/ui/money.tsx";
import type { Spending } from "#lib/pages/buyer/view-spending.ts";

const long = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
const short = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const at = (day: string): Date => new Date(`${day}T00:00:00.000Z`);

type DailySpending = Pick<Spending, "asset" | "chain" | "days">;

function highestOf({ days, asset }: DailySpending): string | null {
  const highest = days.toSorted((a, b) => Number(b.total) - Number(a.total))[0];
  if (!highest || Number(highest.total) === 0) return null;
  return `Highest on ${long.format(at(highest.day))} with ${money(highest.total, asset)}.`;
}

type Props = {
  readonly spending: DailySpending;
  readonly id?: string;
  readonly more?: string;
};

export function SpendingPanel({ spending, id = "spending", more }: Props) {
  const { days, asset, chain } = spending;
  const [first, last] = [days[0], days.at(-1)];
  const highest = highestOf(spending);
  const nothing = `Nothing was paid in the last ${days.length} days.`;
  return (
    <section className="panel" aria-labelledby={id}>
      <div className="panel-head">
        <h2 id={id}>Spending by day</h2>
        <span className="text-muted text-sm">
          {first && last && `${short.format(at(first.day))} to ${long.format(at(last.day))}, `}
          {asset} on {networkName(chain)}
        </span>
      </div>
      <div className="panel-body grid gap-3">
        {highest !== null && <p className="text-sm text-muted">{highest}</p>}
        <Chart
          title={`Spending by day. ${highest ?? nothing}`}
          empty={nothing}
          unit={asset}
          rowName="Day"
          series={[
            { key: "byAgents", name: "By agents within policy" },
            { key: "countersigned", name: "Countersigned by a person" },
          ]}
          rows={days.map(({ day, byAgents, countersigned }) => ({
            label: short.format(at(day)),
            name: long.format(at(day)),
            amounts: { byAgents, countersigned },
          }))}
        />
      </div>
      <div className="panel-foot">
        <span>Amounts include fees. Days in UTC</span>
        {more !== undefined && <Link href={more}>More charts</Link>}
      </div>
    </section>
  );
}
