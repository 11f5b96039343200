import { requireOfficial } from "#app/admin/official.ts";
import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { businessOf } from "#components/shell/menu-words.ts";
import { Copyable } from "#components/ui/copyable.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Filters, FilterSearch } from "#components/ui/filters.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { viewOrganizations } from "#lib/pages/admin/view-directory.ts";

export const metadata = { title: "Organizations" };

const PATH = "/admin/organizations";

export default async function OrganizationsPage({ searchParams }: { readonly searchParams: SearchParams }) {
  await requireOfficial(PATH, "platform.users.read");
  const query = await searchParams;
  const search = one(query, "search")?.trim();
  const { items, nextCursor } = await found(viewOrganizations({ search, cursor: one(query, "cursor") }));
  return (
    <>
      <PageHeader title="Organizations" description="The organizations that buy and sell here." />
      <Panel id="organizations" title="All organizations" note="Newest first">
        <Filters label="Organizations" path={PATH}>
          <FilterSearch label="Search organizations" name="search" value={search} placeholder="Name, slug or organization id" />
        </Filters>
        {items.length > 0 ? (
          <Ledger
            caption="Organizations"
            rows={items}
            rowKey={({ organizationId }) => organizationId}
            columns={[
              {
                name: "Organization",
                cell: ({ name, slug }) => (
                  <>
                    <Untrusted>{name}</Untrusted>
                    <span className="sub">{slug}</span>
                  </>
                ),
              },
              { name: "Does", cell: ({ productRoles }) => businessOf(productRoles) },
              { name: "Plan", cell: ({ tier }) => tier ?? <span className="text-muted">None</span> },
              { name: "Members", cell: ({ members }) => members, numeric: true },
              { name: "Since", cell: ({ createdAt }) => <Moment at={createdAt} show="date" /> },
              { name: "Id", cell: ({ organizationId }) => <Copyable value={organizationId} label="organization id" head={8} /> },
            ]}
          />
        ) : (
          <Empty title="No organization matches">The search compares the beginning of names and slugs, and whole ids.</Empty>
        )}
        <Pager path={PATH} query={query} nextCursor={nextCursor} />
      </Panel>
    </>
  );
}
