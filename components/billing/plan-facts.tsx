import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import type { StatementView } from "#lib/billing/statement-view.ts";
import { monthName } from "./month-name.ts";

const tierName = { developer: "Developer", team: "Team", business: "Business", enterprise: "Enterprise" } as const;

const Amounts = ({ of }: { readonly of: readonly (readonly [amount: string, asset: string])[] }) =>
  of.length === 0 ? (
    <dd>None</dd>
  ) : (
    of.map(([amount, asset]) => (
      <dd key={asset}>
        <Money>{money(amount, asset)}</Money>
      </dd>
    ))
  );

export function PlanFacts({ view }: { readonly view: StatementView }) {
  const { subscription, lines, volumes, month, current } = view;
  const when = month === current ? "this month" : `in ${monthName(month)}`;
  return (
    <dl className="facts">
      <div>
        <dt>Plan</dt>
        <dd>{subscription ? tierName[subscription.tier] : "No plan"}</dd>
        <dd className="small">
          {subscription ? (
            <>
              <StatusBadge of="subscription" status={subscription.status} /> until{" "}
              <Moment at={subscription.currentPeriodEnd} show="date" />
            </>
          ) : (
            "The platform’s operators assign plans."
          )}
        </dd>
      </div>
      <div>
        <dt>Owed {when}</dt>
        <Amounts of={lines.map(({ total, asset }) => [total, asset] as const)} />
        <dd className="small">To the service. No fee moves on chain.</dd>
      </div>
      <div>
        <dt>Paid by your agents {when}</dt>
        <Amounts of={volumes.map(({ gross, asset }) => [gross, asset] as const)} />
        <dd className="small">Gross, without fees.</dd>
      </div>
    </dl>
  );
}
