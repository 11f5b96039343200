import { Panel } from "#components/ui/panel.tsx";
import { Ranking } from "#components/ui/ranking.tsx";
import type { Insights } from "#lib/pages/buyer/view-insights.ts";

const paymentsWords = (count: number): string => (count === 1 ? "1 payment" : `${count.toLocaleString("en-US")} payments`);

export function RefusalsPanel({ refusals, days }: { readonly refusals: Insights["refusals"]; readonly days: number }) {
  const [first] = refusals;
  const finding = first ? ` Most by “${first.rule}” with ${paymentsWords(first.payments)}.` : "";
  return (
    <Panel id="refusals" title="Refusals by rule">
      <div className="panel-body">
        <Ranking
          title={`Refusals by rule.${finding}`}
          rowName="Rule"
          amountName="Refused"
          empty={`No payment was refused in the last ${days} days.`}
          rows={refusals.map(({ code, rule, means, payments }) => ({
            key: code,
            name: rule,
            detail: means,
            amount: String(payments),
            text: paymentsWords(payments),
          }))}
        />
      </div>
    </Panel>
  );
}
