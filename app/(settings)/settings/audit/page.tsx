import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { requireMember } from "#app/session.ts";
import { EventsLedger } from "#components/audit/events-ledger.tsx";
import { VerifyChain } from "#components/audit/verify-chain.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Empty } from "#components/ui/empty.tsx";
import { FilterDate, Filters, FilterSearch, FilterSelect } from "#components/ui/filters.tsx";
import { NoAccess } from "#components/ui/no-access.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { address, one, type PageQuery } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { kinds } from "#lib/pages/settings/event-line.ts";
import { viewAudit } from "#lib/pages/settings/view-audit.ts";

export const metadata = { title: "Audit log" };

const PATH = "/settings/audit";

const AuditFilters = ({ query }: { readonly query: PageQuery }) => (
  <Filters label="Audit log" path={PATH}>
    <FilterSearch
      label="Id of a thing, a person or an agent"
      name="id"
      value={one(query, "id")}
      placeholder="Id, such as mdt_… or sa_…"
    />
    <FilterSelect
      label="Kind of event"
      name="kind"
      value={one(query, "kind")}
      any="All events"
      options={Object.entries(kinds).map(([kind, { name }]) => [kind, name] as const)}
    />
    <FilterDate label="From" name="since" value={one(query, "since")} />
    <FilterDate label="Until" name="until" value={one(query, "until")} />
  </Filters>
);

function Exports({ query }: { readonly query: PageQuery }) {
  const filters = { ...query, cursor: undefined, from: undefined };
  return (
    <>
      <a className={buttonClass()} href={address(`${PATH}/events.csv`, filters)} download>
        Export CSV
      </a>
      <a className={buttonClass()} href={address(`${PATH}/events.ndjson`, filters)} download>
        Export NDJSON
      </a>
    </>
  );
}

export default async function AuditPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const caller = await requireMember(PATH);
  if (!caller.capabilities.has("audit:read")) {
    return (
      <>
        <PageHeader title="Audit log" />
        <NoAccess title="Your role does not show the audit log">
          Everybody except approvers sees it. Ask an owner or admin for another role.
        </NoAccess>
      </>
    );
  }
  const query = await searchParams;
  const filters = { kind: one(query, "kind"), id: one(query, "id"), since: one(query, "since"), until: one(query, "until") };
  const view = await found(viewAudit(caller, filters, one(query, "cursor")));
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Who did what, and what the service decided. Events are never changed and never deleted; days are UTC."
        actions={<Exports query={query} />}
      />
      <div className="stack">
        <Panel id="events" title="Events" note={`${view.length} in all`}>
          <AuditFilters query={query} />
          {view.items.length > 0 ? (
            <EventsLedger events={view.items} path={PATH} />
          ) : (
            <Empty title={view.nextCursor === undefined ? "No such events" : "None among the newest events"}>
              {view.nextCursor === undefined
                ? "Nothing in the log matches these filters."
                : "Older events were not searched yet: continue with Older, or choose fewer days."}
            </Empty>
          )}
          {(view.nextCursor !== undefined || one(query, "cursor") !== undefined) && (
            <div className="panel-foot">
              <Pager path={PATH} query={query} nextCursor={view.nextCursor} />
            </div>
          )}
        </Panel>
        <VerifyChain />
      </div>
    </>
  );
}
