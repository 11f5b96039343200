import { payeeOf } from "#components/payments/payee.ts";
import { AskerName } from "#components/ui/asker-name.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import type { PageQuery } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { Page } from "#lib/http/paging.ts";
import type { LedgerLine } from "#lib/pages/buyer/view-mandate-ledger.ts";
import type { LedgerKind } from "#lib/vocabulary.ts";

const kinds: Readonly<Record<LedgerKind, { readonly word: string; readonly means: string }>> = {
  hold: { word: "Held", means: "counts against the limits" },
  capture: { word: "Captured", means: "paid" },
  release: { word: "Released", means: "not paid, free again" },
  expire: { word: "Expired", means: "not used in time, free again" },
  overrun: { word: "Captured late", means: "paid although nothing was held for it" },
  raise: { word: "Raised", means: "more counts against the limits" },
  refund: { word: "Refunded", means: "came back, the limits stay used" },
};

const columns = [
  { name: "Payee", cell: (row: LedgerLine) => <Untrusted>{payeeOf(row)}</Untrusted> },
  {
    name: "Entry",
    cell: ({ kind }: LedgerLine) => (
      <>
        {kinds[kind].word} <span className="sub">{kinds[kind].means}</span>
      </>
    ),
  },
  { name: "Asked by", cell: ({ asker }: LedgerLine) => <AskerName asker={asker} /> },
  { name: "When", cell: ({ createdAt }: LedgerLine) => <Moment at={createdAt} show="short" /> },
  {
    name: "Amount",
    numeric: true,
    cell: ({ amount, asset, charge }: LedgerLine) => (
      <>
        <Money>{money(amount, asset)}</Money>
        {charge !== null && <span className="sub">for a payment of {charge}</span>}
      </>
    ),
  },
];

type Props = { readonly page: Page<LedgerLine>; readonly path: string; readonly query: PageQuery };

export const LedgerPanel = ({ page, path, query }: Props) => (
  <Panel id="ledger" title="Ledger">
    {page.items.length > 0 ? (
      <>
        <Ledger
          caption="Ledger of this mandate, newest first"
          columns={columns}
          rows={page.items}
          rowKey={(row) => row.ledgerId}
          href={(row) => `/payments/${row.authorizationId}`}
        />
        <div className="panel-foot">
          <span>Entries never change.</span>
          <Pager path={path} query={query} nextCursor={page.nextCursor} />
        </div>
      </>
    ) : (
      <Empty title="No entries yet">Every hold, and how it ended, is listed here.</Empty>
    )}
  </Panel>
);
