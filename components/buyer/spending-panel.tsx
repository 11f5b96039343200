import { networkName } from "#lib/chains/network-name.ts";
import { Chart } from "#components/ui/chart.tsx";
import { money } from "#components/ui/money.tsx";
import type { Spending } from "#lib/pages/view-spending.ts";

const long = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
const short = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const at = (day: string): Date => new Date(`${day}T00:00:00.000Z`);

const NOTHING = "Nothing was paid in the last 30 days.";

/** The chart in a sentence: "Spending by day. Highest on 3 November with 40.78 USDC." */
export function findingOf({ days, asset }: Pick<Spending, "days" | "asset">): string {
  const highest = days.toSorted((a, b) => Number(b.total) - Number(a.total))[0];
  if (!highest || Number(highest.total) === 0) return `Spending by day. ${NOTHING}`;
  return `Spending by day. Highest on ${long.format(at(highest.day))} with ${money(highest.total, asset)}.`;
}

/** Spending of the last 30 days: by agents alone, and with a person's approval. */
export function SpendingPanel({ spending }: { readonly spending: Spending }) {
  const { days, asset, chain } = spending;
  const [first, last] = [days[0], days.at(-1)];
  const finding = findingOf(spending);
  return (
    <section className="panel" aria-labelledby="spending">
      <div className="panel-head">
        <h2 id="spending">Spending by day</h2>
        <span className="text-muted text-sm">
          {first && last && `${short.format(at(first.day))} to ${long.format(at(last.day))}, `}
          {asset} on {networkName(chain)}
        </span>
      </div>
      <div className="panel-body grid gap-3">
        {!finding.endsWith(NOTHING) && <p className="text-sm text-muted">{finding.slice("Spending by day. ".length)}</p>}
        <Chart
          title={finding}
          empty={NOTHING}
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
        <span>Amounts include fees.</span>
        <span>Days in UTC</span>
      </div>
    </section>
  );
}
