import Link from "next/link";
import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { requireMember } from "#app/session.ts";
import { ResourcesLedger } from "#components/seller/resources-ledger.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Empty } from "#components/ui/empty.tsx";
import { Filters, FilterSearch, FilterSelect } from "#components/ui/filters.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { address, one } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { TabLinks } from "#components/ui/tab-links.tsx";
import { viewResources } from "#lib/pages/seller/view-resources.ts";
import { viewRevenue } from "#lib/pages/seller/view-revenue.ts";

export const metadata = { title: "Paid resources" };

const PATH = "/seller/resources";
const LIMIT = 20;
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].map((method) => [method, method] as const);

const NewResource = () => (
  <Link className={buttonClass({ tone: "primary" })} href="/seller/resources/new">
    New resource
  </Link>
);

type NoneProps = { readonly narrowed: boolean; readonly archived: boolean; readonly mayManage: boolean };

function None({ narrowed, archived, mayManage }: NoneProps) {
  if (narrowed)
    return (
      <Empty title="No resource matches" action={<Link href={PATH}>Show all resources</Link>}>
        No resource has this path, description or method.
      </Empty>
    );
  if (archived) return <Empty title="Nothing is archived">Archived resources are listed here, and can be restored.</Empty>;
  return (
    <Empty title="No resources yet" action={mayManage ? <NewResource /> : undefined}>
      A resource is a path of your API with a price. Agents that ask for it get a 402, pay, and get the answer.
    </Empty>
  );
}

export default async function ResourcesPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const query = await searchParams;
  const caller = await requireMember(PATH);
  if (!caller.capabilities.has("sellers:read"))
    return <NotForRole title="Paid resources" what="resources" who="Owners, admins, developers and viewers" />;
  const [search, method, cursor] = [one(query, "q"), one(query, "method"), one(query, "cursor")];
  const archived = one(query, "show") === "archived";
  const [page, revenue] = await Promise.all([
    found(viewResources(caller, { archived, search, method, cursor, limit: LIMIT })),
    caller.capabilities.has("payments:read") ? viewRevenue(caller) : [],
  ]);
  const narrowed = search !== undefined || method !== undefined;
  const mayManage = caller.capabilities.has("resources:manage");
  const some = page.items.length > 0;
  return (
    <>
      <PageHeader
        title="Paid resources"
        description="What agents can buy from you."
        actions={mayManage && (some || narrowed || archived) ? <NewResource /> : undefined}
      />
      <TabLinks
        label="Resources"
        items={[
          { href: address(PATH, { q: search, method }), name: "For sale", current: !archived },
          { href: address(PATH, { q: search, method, show: "archived" }), name: "Archived", current: archived },
        ]}
      />
      <section className="panel mt-6" aria-label="Resources">
        {(some || narrowed) && (
          <Filters label="Resources" path={PATH}>
            {archived && <input type="hidden" name="show" value="archived" />}
            <FilterSearch label="Search resources" name="q" value={search} placeholder="Path, description or id" />
            <FilterSelect label="Method" name="method" value={method} any="Any method" options={methods} />
          </Filters>
        )}
        {some ? (
          <>
            <ResourcesLedger resources={page.items} archived={archived} revenue={revenue[0] ?? null} />
            <div className="panel-foot">
              <span>{revenue[0] ? "Paid calls and revenue of this month, in UTC" : "Newest first"}</span>
              <Pager path={PATH} query={query} nextCursor={page.nextCursor} />
            </div>
          </>
        ) : (
          <None narrowed={narrowed} archived={archived} mayManage={mayManage} />
        )}
      </section>
    </>
  );
}
