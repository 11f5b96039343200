import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import type { EventLine } from "#lib/pages/settings/event-line.ts";
import { eventWords } from "./event-words.ts";
import { ShortId, Subject } from "./subject.tsx";

export const EventsLedger = ({ events, path }: { readonly events: readonly EventLine[]; readonly path: string }) => (
  <Ledger
    caption="Audit events"
    rows={events}
    rowKey={({ auditEventId }) => auditEventId}
    href={({ sequence }) => `${path}/${sequence}`}
    columns={[
      { name: "Event", cell: ({ type }) => eventWords(type) },
      { name: "By", cell: ({ actorId, actorName }) => <Subject id={actorId} name={actorName} /> },
      { name: "About", cell: ({ entityId }) => <ShortId id={entityId} /> },
      { name: "When", cell: ({ createdAt }) => <Moment at={createdAt} /> },
      { name: "No.", numeric: true, cell: ({ sequence }) => sequence },
    ]}
  />
);
