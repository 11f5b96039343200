import { requireOfficial } from "#app/admin/official.ts";
import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { JudgeSeller } from "#components/platform/judge-seller.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { address, one } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { TabLinks } from "#components/ui/tab-links.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { SellerState } from "#lib/platform/directory-store.ts";
import { viewAllSellers, type SellerLine } from "#lib/pages/admin/view-directory.ts";

export const metadata = { title: "Sellers" };

const PATH = "/admin/sellers";

const tabs = [
  { state: "unverified", name: "To verify", empty: "Every seller is verified or stopped." },
  { state: "verified", name: "Verified", empty: "No seller is verified yet." },
  { state: "stopped", name: "Stopped", empty: "No seller was stopped in an emergency." },
] as const satisfies readonly { state: SellerState; name: string; empty: string }[];

const State = ({ seller: { verified, stoppedAt } }: { readonly seller: SellerLine }) =>
  stoppedAt === null ? (
    <StatusBadge of="seller" status={verified ? "verified" : "unverified"} />
  ) : (
    <Badge tone="danger" icon="stop">
      Stopped
    </Badge>
  );

export default async function SellersPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const caller = await requireOfficial(PATH, "platform.sellers.verify");
  const query = await searchParams;
  const tab = tabs.find(({ state }) => state === one(query, "state")) ?? tabs[0];
  const { items, nextCursor } = await found(
    viewAllSellers(caller.environment, { state: tab.state, cursor: one(query, "cursor") }),
  );
  return (
    <>
      <PageHeader
        title="Sellers"
        description="Sellers prove their domains themselves. Verify one here when the proof came another way."
      />
      <section className="panel" aria-label="Sellers">
        <TabLinks
          label="Sellers by state"
          items={tabs.map(({ state, name }) => ({
            href: address(PATH, {}, { state: state === "unverified" ? undefined : state }),
            name,
            current: state === tab.state,
          }))}
        />
        {items.length > 0 ? (
          <Ledger
            caption={`Sellers: ${tab.name}`}
            rows={items}
            rowKey={({ sellerId }) => sellerId}
            columns={[
              {
                name: "Domain",
                cell: ({ domain, name }) => (
                  <>
                    {domain}
                    <span className="sub">
                      <Untrusted>{name}</Untrusted>
                    </span>
                  </>
                ),
              },
              { name: "Organization", cell: ({ organizationName }) => <Untrusted>{organizationName}</Untrusted> },
              { name: "Resources", cell: ({ resources }) => resources, numeric: true },
              { name: "Registered", cell: ({ createdAt }) => <Moment at={createdAt} show="date" /> },
              { name: "State", cell: (seller) => <State seller={seller} /> },
              { name: "Id", cell: ({ sellerId }) => <Copyable value={sellerId} label="seller id" head={8} /> },
              {
                name: "Actions",
                actions: true,
                cell: ({ sellerId, domain, verified, stoppedAt }) =>
                  stoppedAt === null && <JudgeSeller sellerId={sellerId} domain={domain} verified={verified} />,
              },
            ]}
          />
        ) : (
          <Empty title="No sellers here">{tab.empty}</Empty>
        )}
        <Pager path={PATH} query={query} nextCursor={nextCursor} />
      </section>
    </>
  );
}
