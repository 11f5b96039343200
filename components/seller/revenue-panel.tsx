import { networkName } from "#lib/chains/network-name.ts";
import { Chart } from "#components/ui/chart.tsx";
import { Money, money } from "#components/ui/money.tsx";
import type { DueFees } from "#lib/pages/seller/view-seller-fees.ts";
import type { Revenue } from "#lib/pages/seller/view-revenue.ts";
import { count, longDay, monthOf, shortDay } from "./words.ts";

const NOTHING = "Nothing settled in the last 30 days.";

/** A sentence about the chart: "Revenue by day. Highest on 19 November 2026 with 85.99 USDC." */
function findingOf({ days, asset }: Revenue): string {
  const highest = days.toSorted((a, b) => Number(b.amount) - Number(a.amount))[0];
  if (!highest || highest.payments === 0) return `Revenue by day. ${NOTHING}`;
  return `Revenue by day. Highest on ${longDay(highest.day)} with ${money(highest.amount, asset)}.`;
}

function Picture({ revenue }: { readonly revenue: Revenue }) {
  const { days, asset, chain } = revenue;
  const [first, last] = [days[0], days.at(-1)];
  return (
    <section className="panel" aria-labelledby="revenue">
      <div className="panel-head">
        <h2 id="revenue">Revenue by day</h2>
        <span className="text-muted text-sm">
          {first && last && `${shortDay(first.day)} to ${longDay(last.day)}, `}
          {asset} on {networkName(chain)}
        </span>
      </div>
      <div className="panel-body">
        <Chart
          title={findingOf(revenue)}
          unit={asset}
          rowName="Day"
          empty={NOTHING}
          series={[{ key: "revenue", name: "Revenue" }]}
          rows={days.map(({ day, amount }) => ({ label: shortDay(day), name: longDay(day), amounts: { revenue: amount } }))}
        />
      </div>
      <div className="panel-foot">
        <span>Settled payments, by the day of their settlement</span>
        <span>Days in UTC</span>
      </div>
    </section>
  );
}

type Props = {
  readonly revenue: Revenue;
  /** The seller fees of this month in each asset; null if this person may not see fees. */
  readonly due: readonly DueFees[] | null;
};

const FIGURE = "text-xl font-semibold tracking-heading tabular-nums";

function Figures({ revenue, due }: Props) {
  const { asset, chain, month, days } = revenue;
  const owed = due?.find((one) => one.asset === asset && one.chain === chain)?.amount ?? "0";
  const name = monthOf(days.at(-1)?.day ?? "");
  return (
    <dl className="panel grid grid-cols-1 divide-y">
      <div className="grid content-center p-4 md:px-5">
        <dt className="text-sm text-muted">Revenue in {name}</dt>
        <dd className={FIGURE}>
          <Money>{money(month.amount, asset)}</Money>
        </dd>
        {due !== null && (
          <dd className="text-sm text-muted tabular-nums">
            before seller fees of <Money>{money(owed, asset)}</Money>
          </dd>
        )}
      </div>
      <div className="grid content-center p-4 md:px-5">
        <dt className="text-sm text-muted">Paid calls in {name}</dt>
        <dd className={FIGURE}>{count(month.payments)}</dd>
        <dd className="text-sm text-muted tabular-nums">payments that settled</dd>
      </div>
    </dl>
  );
}

export const RevenuePanel = (props: Props) => (
  <div className="grid grid-cols-1 gap-6 lg:grid-cols-[minmax(0,1.72fr)_minmax(0,1fr)] lg:gap-8">
    <Picture revenue={props.revenue} />
    <Figures {...props} />
  </div>
);
