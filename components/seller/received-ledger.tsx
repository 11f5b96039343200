import Link from "next/link";
import { Copyable } from "#components/ui/copyable.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { columnDigits, Money, money } from "#components/ui/money.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import type { Received } from "#lib/pages/view-received.ts";
import { resourcePath } from "./words.ts";

const Resource = ({ payment: { sellerId, resourceId } }: { readonly payment: Received }) =>
  sellerId === null || resourceId === null ? (
    <span className="muted">Not told</span>
  ) : (
    <Link href={resourcePath({ sellerId, resourceId })}>{resourceId}</Link>
  );

const columnsFor = (digits: number) => [
  { name: "Received", cell: ({ createdAt }: Received) => <Moment at={createdAt} show="short" /> },
  { name: "Resource", cell: (payment: Received) => <Resource payment={payment} /> },
  {
    name: "Payer",
    cell: ({ payer }: Received) => (payer === null ? null : <Copyable value={payer} label="payer address" />),
  },
  {
    name: "Transaction",
    cell: ({ transaction }: Received) =>
      transaction === null ? null : <Copyable value={transaction} label="transaction hash" />,
  },
  { name: "State", cell: ({ status }: Received) => <StatusBadge of="settlement" status={status} /> },
  { name: "Amount", numeric: true, cell: ({ amount, asset }: Received) => <Money>{money(amount, asset, digits)}</Money> },
];

/** Payments that the organization received. */
export const ReceivedLedger = ({ payments }: { readonly payments: readonly Received[] }) => (
  <Ledger
    caption="Payments received, newest first"
    columns={columnsFor(columnDigits(payments.map(({ amount }) => amount)))}
    rows={payments}
    rowKey={({ paymentId }) => paymentId}
  />
);
