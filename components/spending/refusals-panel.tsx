import { Ranking } from "#components/ui/ranking.tsx";
import type { Insights } from "#lib/pages/view-insights.ts";

const paymentsWords = (count: number): string => (count === 1 ? "1 payment" : `${count.toLocaleString("en-US")} payments`);

export function RefusalsPanel({ refusals, days }: { readonly refusals: Insights["refusals"]; readonly days: number }) {
  const [first] = refusals;
  const finding = first ? ` Most by “${first.rule}” with ${paymentsWords(first.payments)}.` : "";
  return (
    <section className="panel" aria-labelledby="refusals">
      <div className="panel-head">
        <h2 id="refusals">Refusals by rule</h2>
      </div>
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
    </section>
  );
}
