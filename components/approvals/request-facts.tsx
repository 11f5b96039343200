import { Essentials } from "#components/checkout/essentials.tsx";
import { lineKey } from "#components/checkout/names.ts";
import { KnownPayee } from "#components/checkout/payee.tsx";
import { AskerName } from "#components/ui/asker-name.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money } from "#components/ui/money.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { LineView } from "#lib/approvals/checkout-view.ts";
import { networkName } from "#lib/chains/network-name.ts";
import type { Approvable } from "./together.ts";

const variantOf = ({ title, name, color, size }: LineView): string =>
  [title === undefined ? undefined : name, color, size].filter((part) => part !== undefined).join(", ");

const columns = [
  {
    name: "Item",
    cell: (line: LineView) => (
      <>
        <Untrusted>{line.title ?? line.name}</Untrusted>
        {variantOf(line) !== "" && (
          <span className="sub">
            <Untrusted>{variantOf(line)}</Untrusted>
          </span>
        )}
      </>
    ),
  },
  { name: "Quantity", numeric: true, cell: ({ quantity }: LineView) => String(quantity) },
  { name: "Price", numeric: true, cell: ({ displayUnitAmount }: LineView) => <Money>{displayUnitAmount}</Money> },
  { name: "Sum", numeric: true, cell: ({ displaySubtotal }: LineView) => <Money>{displaySubtotal}</Money> },
];

export function RequestFacts({ view, mandate }: Approvable) {
  const { amounts, agent, destination, intent, lines, payee, requestedAt } = view;
  return (
    <>
      <div className="grid gap-1 p-4 md:px-5">
        <p className="text-lg font-semibold wrap-anywhere">
          <Money>{amounts.charged}</Money> to <Untrusted>{payee.domain}</Untrusted>
        </p>
        <KnownPayee payee={payee} elsewhere={view.elsewhere} />
      </div>
      <div className="lg:[&>dl>div]:px-5">
        <Essentials view={view} mandate={mandate} />
      </div>
      <div className="border-t p-4 md:px-5">
        <Ledger compact caption={`Items for ${amounts.charged}`} columns={columns} rows={lines} rowKey={lineKey} />
      </div>
      <div className="border-t p-4 md:px-5">
        <Pairs
          items={[
            ...(amounts.rest === undefined
              ? []
              : [["Other charges of the seller", <Money key="rest">{amounts.rest}</Money>] as const]),
            ["Service fee, your part", <Money key="fee">{amounts.fee.buyerShare}</Money>],
            ...(view.elsewhere
              ? ([
                  ["Paid", "Elsewhere, by the agent"],
                  ["Takes effect", "At once, and cannot be taken back"],
                ] as const)
              : ([
                  ["Pays to", <Copyable key="to" value={destination.payTo} label="destination address" />],
                  ["Network", networkName(destination.chain)],
                ] as const)),
            ["Asked by", <AskerName key="agent" asker={agent} />],
            ["Asked", <Moment key="asked" at={requestedAt} show="short" />],
            ["Expires", <Moment key="expires" at={intent.expiresAt} show="short" />],
          ]}
        />
      </div>
    </>
  );
}
