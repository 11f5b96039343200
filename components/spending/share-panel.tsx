import { money } from "#components/ui/money.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Ranking } from "#components/ui/ranking.tsx";
import type { Share } from "#lib/pages/buyer/view-insights.ts";

type Props = {
  readonly by: "agent" | "seller" | "mandate" | "rail";
  readonly shares: readonly Share[];
  readonly asset: string;
  readonly days: number;
};

const capital = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;

export function SharePanel({ by, shares, asset, days }: Props) {
  const [first] = shares;
  const finding = first ? ` Most by ${first.name} with ${money(first.amount, asset)}.` : "";
  return (
    <Panel id={`by-${by}`} title={`Spending by ${by}`}>
      <div className="panel-body">
        <Ranking
          title={`Spending by ${by}.${finding}`}
          rowName={capital(by)}
          amountName="Spent"
          empty={`Nothing was paid in the last ${days} days.`}
          rows={shares.map(({ amount, ...share }) => ({ ...share, amount, text: money(amount, asset) }))}
        />
      </div>
    </Panel>
  );
}
