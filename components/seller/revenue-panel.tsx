import { networkName } from "#lib/chains/network-name.ts";
import { Chart } from "#components/ui/chart.tsx";
import { Money, money } from "#components/ui/money.tsx";
import type { DueFees } from "#lib/pages/view-seller-fees.ts";
import type { Revenue } from "#lib/pages/view-revenue.ts";
import { count, longDay, monthOf, shortDay } from "./words.ts";

/** The chart in a sentence: "Revenue by day. Highest on 19 November 2026 with 85.99 USDC." */
function findingOf({ days, asset }: Revenue): string {
  const highest = days.toSorted((a, b) => Number(b.amount) - Number(a.amount))[0];
  if (!highest || highest.payments === 0) return "Revenue by day. Nothing settled in the last 30 days.";
  return `Revenue by day. Highest on ${longDay(highest.day)} with ${money(highest.amount, asset)}.`;
}

function Picture({ revenue }: { readonly revenue: Revenue }) {
  const { days, asset, chain } = revenue;
  const [first, last] = [days[0], days.at(-1)];
  return (
    <section className="panel" aria-labelledby="revenue">
      <div className="panel-head">
        <h2 id="revenue">Revenue by day</h2>
        <span className="muted small">
          {first && last && `${shortDay(first.day)} to ${longDay(last.day)}, `}
          {asset} on {networkName(chain)}
        </span>
      </div>
      <div className="panel-body">
        <Chart
          title={findingOf(revenue)}
          unit={asset}
          rowName="Day"
          series={[{ key: "revenue", name: "Revenue" }]}
          rows={days.map(({ day, amount }) => ({ label: shortDay(day), name: longDay(day), amounts: { revenue: amount } }))}
        />
      </div>
      <div className="panel-foot">
        <span>What settled, by the day it settled</span>
        <span>Days in UTC</span>
      </div>
    </section>
  );
}

type Props = {
  readonly revenue: Revenue;
  /** The seller fees that became due this month; null if this person may not see fees. */
  readonly due: readonly DueFees[] | null;
};

function Figures({ revenue, due }: Props) {
  const { asset, chain, month, days } = revenue;
  const owed = due?.find((one) => one.asset === asset && one.chain === chain)?.amount ?? "0";
  const name = monthOf(days.at(-1)?.day ?? "");
  return (
    <dl className="panel figures">
      <div>
        <dt>Revenue in {name}</dt>
        <dd>
          <Money>{money(month.amount, asset)}</Money>
        </dd>
        {due !== null && (
          <dd className="small">
            before seller fees of <Money>{money(owed, asset)}</Money>
          </dd>
        )}
      </div>
      <div>
        <dt>Paid calls in {name}</dt>
        <dd>{count(month.payments)}</dd>
        <dd className="small">payments that settled</dd>
      </div>
    </dl>
  );
}

/** The revenue in one asset, by day and for this month. */
export const RevenuePanel = (props: Props) => (
  <div className="revenue">
    <Picture revenue={props.revenue} />
    <Figures {...props} />
  </div>
);
