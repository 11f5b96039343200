import Link from "next/link";
import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { requireMember } from "#app/session.ts";
import { ReceivedLedger } from "#components/seller/received-ledger.tsx";
import { receivedStatuses } from "#components/seller/words.ts";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { FilterDate, Filters, FilterSelect } from "#components/ui/filters.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one, type PageQuery } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { readReceived } from "#lib/settlement/list-settlements.ts";
import { viewResources } from "#lib/pages/seller/view-resources.ts";
import { daysAfter, readDay } from "#lib/time.ts";
import { SettlementStatus } from "#lib/vocabulary.ts";

export const metadata = { title: "Payments received" };

const PATH = "/seller/payments";
const LIMIT = 20;

function filterOf(query: PageQuery) {
  // The filter by resource has the form "sellerId resourceId"; ids contain no spaces.
  const [sellerId, resourceId] = (one(query, "resource") ?? "").split(" ");
  const until = readDay(one(query, "to"));
  return {
    ...(resourceId !== undefined && { sellerId, resourceId }),
    status: SettlementStatus.safeParse(one(query, "status")).data,
    from: readDay(one(query, "since")),
    until: until && daysAfter(until, 1),
  };
}

export default async function ReceivedPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const query = await searchParams;
  const caller = await requireMember(PATH);
  if (!caller.capabilities.has("payments:read"))
    return (
      <NotForRole title="Payments received" what="payments" who="Owners, admins, approvers, developers, finance and viewers" />
    );
  const [page, resources] = await Promise.all([
    found(readReceived(caller, { ...filterOf(query), cursor: one(query, "cursor"), limit: LIMIT })),
    viewResources(caller, { archived: false, limit: 100 }),
  ]);
  const narrowed = ["resource", "status", "since", "to"].some((name) => one(query, name) !== undefined);
  const some = page.items.length > 0;
  return (
    <>
      <PageHeader title="Payments received" description="What agents paid for your resources. Days are in UTC." />
      <section className="panel" aria-label="Payments received">
        {(some || narrowed) && (
          <Filters label="Payments received" path={PATH}>
            <FilterSelect
              label="Resource"
              name="resource"
              value={one(query, "resource")}
              any="Any resource"
              options={resources.items.map(({ sellerId, resourceId }) => [`${sellerId} ${resourceId}`, resourceId])}
            />
            <FilterSelect label="State" name="status" value={one(query, "status")} any="Any state" options={receivedStatuses} />
            <FilterDate label="From" name="since" value={one(query, "since")} />
            <FilterDate label="To" name="to" value={one(query, "to")} />
          </Filters>
        )}
        {some ? (
          <>
            <ReceivedLedger payments={page.items} />
            <div className="panel-foot">
              <span>Of the buyer, only the address that paid is shown.</span>
              <Pager path={PATH} query={query} nextCursor={page.nextCursor} />
            </div>
          </>
        ) : narrowed ? (
          <Empty title="No payment matches" action={<Link href={PATH}>Show all payments</Link>}>
            Nothing was received for this resource, in this state and time.
          </Empty>
        ) : (
          <Empty title="No payments yet" action={<Link href="/seller/resources">Open resources</Link>}>
            Each payment to one of your resources is listed here as soon as it is submitted.
          </Empty>
        )}
      </section>
    </>
  );
}
