import { Ledger, type Column } from "#components/ui/ledger.tsx";
import { columnDigits, Money, money } from "#components/ui/money.tsx";
import { RequestLine } from "#components/ui/request-line.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { ListedResource } from "#lib/sellers/resource-schema.ts";
import { revenueKey } from "#lib/pages/seller/revenue.ts";
import type { Revenue } from "#lib/pages/seller/view-revenue.ts";
import { Price } from "./price.tsx";
import { count, isPayable, resourcePath } from "./words.ts";

type Props = {
  readonly resources: readonly ListedResource[];
  readonly archived: boolean;
  /** This month's revenue in the asset with most payments; null if there is none or if this person may not see payments. */
  readonly revenue: Revenue | null;
};

const Name = ({ resource: { method, pathTemplate, description } }: { readonly resource: ListedResource }) => (
  <>
    <span className="inline-flex flex-wrap items-baseline gap-2 [&>code]:text-[0.8125rem]">
      <RequestLine method={method} path={pathTemplate} />
    </span>
    {description !== undefined && (
      <span className="sub">
        <Untrusted>{description}</Untrusted>
      </span>
    )}
  </>
);

function columnsFor({ resources, archived, revenue }: Props): Column<ListedResource>[] {
  const earned = (resource: ListedResource) => revenue?.resources[revenueKey(resource)];
  const prices = resources.flatMap(({ pricing }) => (pricing.type === "fixed" ? [pricing.amount] : []));
  const [priceDigits, earnedDigits] = [prices, resources.map((one) => earned(one)?.amount ?? "0")].map(columnDigits);
  const figures: Column<ListedResource>[] =
    revenue === null
      ? []
      : [
          { name: "Paid calls", numeric: true, cell: (resource) => count(earned(resource)?.payments ?? 0) },
          {
            name: "Revenue",
            numeric: true,
            cell: (resource) => <Money>{money(earned(resource)?.amount ?? "0", revenue.asset, earnedDigits)}</Money>,
          },
        ];
  const state = (resource: ListedResource) => (archived ? "archived" : isPayable(resource) ? "live" : "unpayable");
  return [
    { name: "Resource", cell: (resource) => <Name resource={resource} /> },
    { name: "Price", numeric: true, cell: ({ pricing }) => <Price pricing={pricing} digits={priceDigits ?? 2} /> },
    ...figures,
    {
      name: "State",
      cell: (resource) => (
        <>
          <StatusBadge of="resource" status={state(resource)} />
          {resource.payToProven === false && <span className="sub">Address not proven</span>}
        </>
      ),
    },
  ];
}

export const ResourcesLedger = (props: Props) => (
  <Ledger
    caption={props.archived ? "Archived resources" : "Paid resources"}
    columns={columnsFor(props)}
    rows={props.resources}
    rowKey={resourcePath}
    href={resourcePath}
  />
);
