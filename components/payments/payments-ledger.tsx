import { itemOf, payeeOf } from "#components/payments/payee.ts";
import { StageBadge } from "#components/payments/stage-badge.tsx";
import { AskerName } from "#components/ui/asker-name.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { PaymentLine } from "#lib/pages/buyer/view-payments.ts";

const railNames = { record: "Made elsewhere", card: "By card" } as const;

const columns = [
  {
    name: "Payee",
    cell: (row: PaymentLine) => (
      <>
        <Untrusted>{payeeOf(row)}</Untrusted>
        {row.resource && (
          <span className="sub">
            <Untrusted>{itemOf(row.resource)}</Untrusted>
          </span>
        )}
        {row.rail !== "x402" && <span className="sub">{railNames[row.rail]}</span>}
      </>
    ),
  },
  { name: "State", cell: (row: PaymentLine) => <StageBadge stage={row.stage} /> },
  { name: "Asked by", cell: ({ asker }: PaymentLine) => <AskerName asker={asker} /> },
  { name: "Mandate", cell: (row: PaymentLine) => <Untrusted>{row.mandate}</Untrusted> },
  { name: "Asked", cell: (row: PaymentLine) => <Moment at={row.createdAt} show="short" /> },
  {
    name: "Amount",
    numeric: true,
    cell: (row: PaymentLine) => (
      <>
        <Money>{money(row.total, row.asset)}</Money>
        {row.counted !== null && <span className="sub">counts as {row.counted}</span>}
      </>
    ),
  },
];

type Props = { readonly rows: readonly PaymentLine[]; readonly dense: boolean };

export const PaymentsLedger = ({ rows, dense }: Props) => (
  <Ledger
    caption="Payments, newest first"
    columns={columns}
    rows={rows}
    rowKey={(row) => row.authorizationId}
    href={(row) => `/payments/${row.authorizationId}`}
    dense={dense}
  />
);
