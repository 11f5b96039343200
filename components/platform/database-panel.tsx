import { Badge } from "#components/ui/badge.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import type { DatabaseLine, HostLine } from "#lib/pages/admin/view-health.ts";

const roles = { primary: "Primary", standby: "Standby" } as const;
const hosts: Readonly<Record<HostLine["is"], string>> = {
  standby: "standby",
  away: "does not answer",
  "old primary": "old primary that takes writes",
  "second primary": "second primary",
  "other installation": "another installation",
};

const unseen = (
  <Badge tone="caution" icon="info">
    Not visible
  </Badge>
);

function InSync({ database: { inSync, isShort } }: { readonly database: DatabaseLine }) {
  if (inSync === null) return unseen;
  return isShort ? (
    <Badge tone="danger" icon="stop">
      {String(inSync)}
    </Badge>
  ) : (
    inSync
  );
}

const Standbys = ({ standbys }: { readonly standbys: NonNullable<DatabaseLine["standbys"]> }) => (
  <Ledger
    caption="Standbys of the database"
    rows={standbys.map((standby, index) => ({ ...standby, index }))}
    rowKey={({ index }) => String(index)}
    columns={[
      {
        name: "Standby",
        cell: ({ name, address }) => (
          <>
            <span className="mono">{name}</span>
            {address !== null && <span className="sub">{address}</span>}
          </>
        ),
      },
      { name: "State", cell: ({ state }) => state },
      { name: "Sync", cell: ({ syncState }) => syncState },
      { name: "Behind", cell: ({ behind }) => behind, numeric: true },
    ]}
  />
);

type Props = { readonly database: DatabaseLine | null; readonly others: readonly HostLine[] };

export const DatabasePanel = ({ database, others }: Props) => (
  <Panel id="database" title="Database">
    <div className="panel-body">
      {database?.isShort && (
        <div className="mb-4">
          <Notice tone="danger" role="alert">
            <strong>Fewer than two standbys are in sync.</strong> If the last one is lost too, nothing can be saved: no payment is
            authorized, and no mandate revoked.
          </Notice>
        </div>
      )}
      <Pairs
        items={[
          ["Role", database ? roles[database.role] : unseen],
          ["Timeline", database?.timeline ?? unseen],
          [
            "Commits wait for",
            database === null ? unseen : database.names === "" ? "No standby" : <span className="mono">{database.names}</span>,
          ],
          ...(database !== null && database.names !== ""
            ? [["In sync", <InSync key="sync" database={database} />] as const]
            : []),
          ...(database !== null && database.standbys === null
            ? [
                [
                  "Standbys",
                  <span key="standbys">
                    {unseen} The role of <span className="mono">DATABASE_URL</span> lacks <span className="mono">pg_monitor</span>
                    .
                  </span>,
                ] as const,
              ]
            : []),
          ...others.map(({ name, is }) => [name, hosts[is]] as const),
        ]}
      />
    </div>
    {database?.standbys && database.standbys.length > 0 && <Standbys standbys={database.standbys} />}
  </Panel>
);
