import { Badge } from "#components/ui/badge.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { networkName } from "#lib/chains/network-name.ts";
import type { SenderLine } from "#lib/pages/admin/view-health.ts";

const names = { relayer: "Relayer", guardian: "Guardian" } as const;

function State({ balance, low }: Pick<SenderLine, "balance" | "low">) {
  if (balance === null) return <Badge icon="clock">Not read yet</Badge>;
  if (low) {
    return (
      <Badge tone="danger" icon="stop">
        Low
      </Badge>
    );
  }
  return (
    <Badge tone="positive" icon="check">
      Works
    </Badge>
  );
}

export const SendersLedger = ({ senders }: { readonly senders: readonly SenderLine[] }) => (
  <Ledger
    caption="Accounts that pay gas"
    rows={senders}
    rowKey={({ chain, key }) => `${chain} ${key}`}
    columns={[
      {
        name: "Account",
        cell: ({ chain, key, address }) => (
          <>
            {names[key]} on {networkName(chain)}
            <span className="sub">
              <Copyable value={address} label="address" />
            </span>
          </>
        ),
      },
      { name: "Balance", cell: ({ balance }) => (balance === null ? null : `${balance} ETH`), numeric: true },
      { name: "State", cell: ({ balance, low }) => <State balance={balance} low={low} /> },
      { name: "Not mined yet", cell: ({ open }) => open, numeric: true },
      {
        name: "Oldest",
        cell: ({ oldest, reason }) =>
          oldest === null ? null : (
            <>
              <Moment at={oldest} show="short" />
              {reason !== null && <span className="sub">{reason}</span>}
            </>
          ),
      },
    ]}
  />
);
