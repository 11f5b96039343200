import Link from "next/link";
import { Copyable } from "#components/ui/copyable.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { columnDigits, Money, money } from "#components/ui/money.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import type { ReceivedPayment } from "#lib/settlement/list-settlements.ts";
import { resourcePath } from "./words.ts";

const Resource = ({ payment: { sellerId, resourceId } }: { readonly payment: ReceivedPayment }) =>
  sellerId === null || resourceId === null ? (
    <span className="text-muted">Not told</span>
  ) : (
    <Link href={resourcePath({ sellerId, resourceId })}>{resourceId}</Link>
  );

const columnsFor = (digits: number) => [
  { name: "Received", cell: ({ createdAt }: ReceivedPayment) => <Moment at={createdAt} show="short" /> },
  { name: "Resource", cell: (payment: ReceivedPayment) => <Resource payment={payment} /> },
  {
    name: "Payer",
    cell: ({ payer }: ReceivedPayment) => (payer === null ? null : <Copyable value={payer} label="payer address" />),
  },
  {
    name: "Transaction",
    cell: ({ transaction }: ReceivedPayment) =>
      transaction === null ? null : <Copyable value={transaction} label="transaction hash" />,
  },
  { name: "State", cell: ({ status }: ReceivedPayment) => <StatusBadge of="settlement" status={status} /> },
  { name: "Amount", numeric: true, cell: ({ amount, asset }: ReceivedPayment) => <Money>{money(amount, asset, digits)}</Money> },
];

export const ReceivedLedger = ({ payments }: { readonly payments: readonly ReceivedPayment[] }) => (
  <Ledger
    caption="Payments received, newest first"
    columns={columnsFor(columnDigits(payments.map(({ amount }) => amount)))}
    rows={payments}
    rowKey={({ settlementId }) => settlementId}
  />
);
