import { Money, money } from "#components/ui/money.tsx";
import type { Spending } from "#lib/pages/buyer/view-spending.ts";

const monthName = (day: string | undefined): string =>
  day === undefined
    ? "this month"
    : new Intl.DateTimeFormat("en-GB", { month: "long", timeZone: "UTC" }).format(new Date(`${day}T00:00:00.000Z`));

export function SpendingFacts({ spending: { asset, today, month, held, days } }: { readonly spending: Spending }) {
  const both = Number(month.byAgents) > 0 && Number(month.countersigned) > 0;
  const who = Number(month.countersigned) > 0 ? "all countersigned" : "all by agents within policy";
  return (
    <dl className="facts">
      <div>
        <dt>Spent today</dt>
        <dd>
          <Money>{money(today, asset)}</Money>
        </dd>
        <dd className="small">since midnight UTC</dd>
      </div>
      <div>
        <dt>Spent in {monthName(days.at(-1)?.day)}</dt>
        <dd>
          <Money>{money(month.total, asset)}</Money>
        </dd>
        <dd className="small">
          {both
            ? `${money(month.byAgents, asset)} by agents, ${money(month.countersigned, asset)} countersigned`
            : Number(month.total) > 0
              ? who
              : "nothing yet"}
        </dd>
      </div>
      <div>
        <dt>Held, not settled</dt>
        <dd>
          <Money>{money(held, asset)}</Money>
        </dd>
        <dd className="small">counts against the limits at once</dd>
      </div>
    </dl>
  );
}
