import { requireOfficial } from "#app/admin/official.ts";
import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { UsersLedger } from "#components/platform/users-ledger.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Filters, FilterSearch, FilterSelect } from "#components/ui/filters.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { viewUsers } from "#lib/pages/admin/view-users.ts";
import { PlatformRole } from "#lib/vocabulary.ts";

export const metadata = { title: "Users" };

const PATH = "/admin/users";
const ROWS = 20;

const roles = PlatformRole.exclude(["user"]);

export default async function UsersPage({ searchParams }: { readonly searchParams: SearchParams }) {
  await requireOfficial(PATH, "platform.users.read");
  const query = await searchParams;
  const search = one(query, "search")?.trim();
  const role = roles.safeParse(one(query, "role")).data;
  const banned = one(query, "state") === "banned" ? ("true" as const) : undefined;
  const view = await found(viewUsers({ limit: ROWS, cursor: one(query, "cursor"), search, role, banned }));
  return (
    <>
      <PageHeader
        title="Users"
        description="Roles, sessions and bans. Every change needs a reason and is written to the audit chain."
      />
      <Panel id="people" title="People" note="Newest first">
        <Filters label="People" path={PATH}>
          <FilterSearch label="Search people" name="search" value={search} placeholder="Name, e-mail or user id" />
          <FilterSelect
            label="Platform role"
            name="role"
            value={role}
            any="Any role"
            options={roles.options.map((option) => [option, option])}
          />
          <FilterSelect label="State" name="state" value={one(query, "state")} any="Any state" options={[["banned", "Banned"]]} />
        </Filters>
        {view.items.length > 0 ? (
          <UsersLedger users={view.items} />
        ) : (
          <Empty title="Nobody matches">The search compares the beginning of names and addresses, and whole ids.</Empty>
        )}
        <Pager path={PATH} query={query} nextCursor={view.nextCursor} />
      </Panel>
    </>
  );
}
