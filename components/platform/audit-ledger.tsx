import { Copyable } from "#components/ui/copyable.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { AuditLine } from "#lib/pages/admin/view-platform-audit.ts";

const reasonOf = ({ metadata }: AuditLine): string | null => (typeof metadata["reason"] === "string" ? metadata["reason"] : null);

export const AuditLedger = ({ events }: { readonly events: readonly AuditLine[] }) => (
  <Ledger
    caption="Audit events, newest first"
    rows={events}
    rowKey={({ auditEventId }) => auditEventId}
    columns={[
      {
        name: "Event and reason",
        cell: (event) => (
          <>
            <span className="mono">{event.type}</span>
            {reasonOf(event) !== null && (
              <span className="sub">
                <Untrusted>{reasonOf(event) ?? ""}</Untrusted>
              </span>
            )}
          </>
        ),
      },
      { name: "When", cell: ({ createdAt }) => <Moment at={createdAt} show="short" /> },
      {
        name: "By",
        cell: ({ actorId, actorName }) =>
          actorName === null ? <Copyable value={actorId} label="actor id" head={8} /> : <Untrusted>{actorName}</Untrusted>,
      },
      { name: "About", cell: ({ entityId }) => <Copyable value={entityId} label="entity id" head={8} /> },
      { name: "Hash", cell: ({ hash }) => <Copyable value={hash} label="event hash" head={8} tail={8} /> },
    ]}
  />
);
