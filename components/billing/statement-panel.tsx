import Link from "next/link";
import { Copyable } from "#components/ui/copyable.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Filters, FilterSelect } from "#components/ui/filters.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import type { PageQuery } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import type { StatementView } from "#lib/billing/statement-view.ts";
import { aligned } from "./aligned.ts";
import { monthName } from "./month-name.ts";

type Fee = StatementView["fees"][number];

/** Only the buyer can open the payment page, so a seller gets the payment's id to copy. */
const Payment = ({ side, authorizationId }: Fee) =>
  side === "buyer" ? (
    <Link href={`/payments/${authorizationId}`}>
      <code>{`${authorizationId.slice(0, 7)}…${authorizationId.slice(-4)}`}</code>
    </Link>
  ) : (
    <Copyable value={authorizationId} label="payment id" />
  );

type Props = { readonly view: StatementView; readonly query: PageQuery; readonly path: string };

export function StatementPanel({ view, query, path }: Props) {
  const months = [...new Set([view.current, view.month, ...view.history.map(({ month }) => month)])].toSorted().reverse();
  const column = aligned(view.fees.map(({ amount }) => amount));
  return (
    <section className="panel" aria-labelledby="statement">
      <div className="panel-head">
        <h2 id="statement">Statement of {monthName(view.month)}</h2>
        <span className="text-muted text-sm">Months are UTC</span>
      </div>
      <Filters label="Statement" path={path}>
        <FilterSelect
          label="Month"
          name="month"
          value={view.month}
          any="This month"
          options={months.map((month) => [month, monthName(month)] as const)}
        />
      </Filters>
      {view.fees.length === 0 ? (
        <Empty title="No fees in this month">
          A fee is listed here when a payment is captured under a schedule that charges one.
        </Empty>
      ) : (
        <>
          <Ledger
            caption={`Fees of ${monthName(view.month)}`}
            rows={view.fees}
            rowKey={({ feeId }) => feeId}
            columns={[
              { name: "Captured", cell: ({ createdAt }) => <Moment at={createdAt} show="minute" /> },
              { name: "Payment", cell: Payment },
              { name: "As", cell: ({ side }) => (side === "buyer" ? "Buyer" : "Seller") },
              { name: "Fee", numeric: true, cell: ({ amount, asset }) => <Money>{money(column(amount), asset)}</Money> },
            ]}
          />
          <div className="panel-foot">
            {view.lines.map(({ asset, total, payments }) => (
              <span key={asset}>
                {payments} {payments === 1 ? "fee" : "fees"}, together{" "}
                <strong className="double">
                  <Money>{money(total, asset)}</Money>
                </strong>
              </span>
            ))}
            <Pager path={path} query={query} nextCursor={view.nextCursor} />
          </div>
        </>
      )}
    </section>
  );
}
