import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { requireMember } from "#app/session.ts";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { columnDigits, Money, money } from "#components/ui/money.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { viewDueSellerFees, viewSellerFees, type SellerFee } from "#lib/pages/seller/view-seller-fees.ts";

export const metadata = { title: "Seller fees" };

const PATH = "/seller/fees";
const LIMIT = 20;

const columnsFor = (fees: readonly SellerFee[]) => {
  const [paidDigits, feeDigits] = [fees.flatMap(({ paid }) => paid ?? []), fees.map(({ amount }) => amount)].map(columnDigits);
  return [
    { name: "Due since", cell: ({ createdAt }: SellerFee) => <Moment at={createdAt} show="short" /> },
    { name: "Resource", cell: ({ resourceId }: SellerFee) => resourceId },
    {
      name: "Payment",
      numeric: true,
      cell: ({ paid, asset }: SellerFee) => (paid === null ? null : <Money>{money(paid, asset, paidDigits)}</Money>),
    },
    { name: "Fee", numeric: true, cell: ({ amount, asset }: SellerFee) => <Money>{money(amount, asset, feeDigits)}</Money> },
  ];
};

export default async function SellerFeesPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const query = await searchParams;
  const caller = await requireMember(PATH);
  if (!caller.capabilities.has("billing:read"))
    return <NotForRole title="Seller fees" what="fees" who="Owners, admins, developers, finance and viewers" />;
  const [page, due] = await Promise.all([
    found(viewSellerFees(caller.organizationId, { cursor: one(query, "cursor"), limit: LIMIT })),
    viewDueSellerFees(caller.organizationId),
  ]);
  return (
    <>
      <PageHeader
        title="Seller fees"
        description="What you owe the service for payments to you, if the fee schedule charges the seller. No fee moves on chain: you receive the full price."
      />
      <div className="stack">
        {due.length > 0 && (
          <dl className="facts">
            {due.map(({ asset, chain, amount, fees }) => (
              <div key={`${chain} ${asset}`}>
                <dt>This month</dt>
                <dd>
                  <Money>{money(amount, asset)}</Money>
                </dd>
                <dd className="small">
                  {fees} {fees === 1 ? "fee" : "fees"}, since the first of the month in UTC
                </dd>
              </div>
            ))}
          </dl>
        )}
        <section className="panel" aria-label="Fees">
          {page.items.length > 0 ? (
            <>
              <Ledger
                caption="Fees of the seller, newest first"
                columns={columnsFor(page.items)}
                rows={page.items}
                rowKey={({ feeId }) => feeId}
              />
              <div className="panel-foot">
                <span>A fee falls due when its payment settles.</span>
                <Pager path={PATH} query={query} nextCursor={page.nextCursor} />
              </div>
            </>
          ) : (
            <Empty title="No fees">Most fee schedules charge the buyer. If yours charges you, its fees are listed here.</Empty>
          )}
        </section>
      </div>
    </>
  );
}
