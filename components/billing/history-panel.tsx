import Link from "next/link";
import { Ledger } from "#components/ui/ledger.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { address } from "#components/ui/page-query.ts";
import type { StatementLine } from "#lib/billing/statement-view.ts";
import { aligned } from "./aligned.ts";
import { monthName } from "./month-name.ts";

export function HistoryPanel({ history, path }: { readonly history: readonly StatementLine[]; readonly path: string }) {
  const column = aligned(history.flatMap(({ asBuyer, asSeller, total }) => [asBuyer, asSeller, total]));
  return (
    <section className="panel" aria-labelledby="history">
      <div className="panel-head">
        <h2 id="history">Months</h2>
      </div>
      <Ledger
        caption="Fees by month"
        rows={history}
        rowKey={({ month, asset }) => `${month} ${asset}`}
        columns={[
          { name: "Month", cell: ({ month }) => <Link href={address(path, { month })}>{monthName(month)}</Link> },
          { name: "As buyer", numeric: true, cell: ({ asBuyer, asset }) => <Money>{money(column(asBuyer), asset)}</Money> },
          { name: "As seller", numeric: true, cell: ({ asSeller, asset }) => <Money>{money(column(asSeller), asset)}</Money> },
          { name: "Owed", numeric: true, cell: ({ total, asset }) => <Money>{money(column(total), asset)}</Money> },
        ]}
      />
    </section>
  );
}
