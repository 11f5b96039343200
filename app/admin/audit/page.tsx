import { requireOfficial } from "#app/admin/official.ts";
import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { AuditLedger } from "#components/platform/audit-ledger.tsx";
import { ChainStatus } from "#components/platform/chain-status.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Filters, FilterSearch } from "#components/ui/filters.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Id } from "#lib/ids.ts";
import { viewAuditLog, viewChain } from "#lib/pages/admin/view-platform-audit.ts";

export const metadata = { title: "Audit chains" };

const PATH = "/admin/audit";
const ROWS = 20;

/** Undefined if the text cannot be an id, so that the filter is ignored. */
const idIn = (text: string | undefined): string | undefined => Id.safeParse(text?.trim()).data;

export default async function AuditPage({ searchParams }: { readonly searchParams: SearchParams }) {
  await requireOfficial(PATH, "platform.audit.read");
  const query = await searchParams;
  const chain = idIn(one(query, "chain"));
  const entityId = idIn(one(query, "entityId"));
  const [log, view] = await Promise.all([
    found(viewAuditLog({ limit: ROWS, cursor: one(query, "cursor"), chain, entityId })),
    viewChain(chain ?? "platform"),
  ]);
  return (
    <>
      <PageHeader
        title="Audit chains"
        description="Every event of every organization. The events of each are the leaves of a Merkle tree, whose root is signed."
      />
      <div className="stack">
        <Panel id="log" title="Audit log" note={chain === undefined ? "All chains" : <span className="mono">{chain}</span>}>
          <ChainStatus key={chain ?? ""} view={view} chain={chain} />
          <Filters label="Audit events" path={PATH}>
            <FilterSearch label="Chain" name="chain" value={one(query, "chain")} placeholder="Organization id, or platform" />
            <FilterSearch label="About" name="entityId" value={one(query, "entityId")} placeholder="Id of the entity" />
          </Filters>
          {log.items.length > 0 ? <AuditLedger events={log.items} /> : <Empty title="No events">No event matches.</Empty>}
          <Pager path={PATH} query={query} nextCursor={log.nextCursor} />
        </Panel>
        {view.checkpoints.length > 0 && (
          <Panel
            id="checkpoints"
            title={<>Newest checkpoints of {view.chain === "platform" ? "the platform’s chain" : "this chain"}</>}
            about={
              <>
                Signed heads, which show if the end of a chain was removed. The public keys are at{" "}
                <a href="/.well-known/jwks.json">/.well-known/jwks.json</a>.
              </>
            }
          >
            <Ledger
              caption="Signed checkpoints, newest first"
              rows={view.checkpoints}
              rowKey={({ sequence, keyId }) => `${sequence} ${keyId}`}
              columns={[
                { name: "Signed", cell: ({ signedAt }) => <Moment at={signedAt} show="short" /> },
                { name: "Events", cell: ({ sequence }) => sequence, numeric: true },
                { name: "Head", cell: ({ hash }) => <Copyable value={hash} label="head hash" head={8} tail={8} /> },
                { name: "Key", cell: ({ keyId }) => <span className="mono">{keyId}</span> },
              ]}
            />
          </Panel>
        )}
      </div>
    </>
  );
}
