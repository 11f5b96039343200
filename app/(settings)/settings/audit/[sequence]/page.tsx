import Link from "next/link";
import { found } from "#app/found.ts";
import { requireMember } from "#app/session.ts";
import { eventWords, pageOf } from "#components/audit/event-words.ts";
import { Subject } from "#components/audit/subject.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Code } from "#components/ui/code.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import type { EventDetail, EventLine } from "#lib/pages/settings/event-line.ts";
import { viewAuditEvent } from "#lib/pages/settings/view-audit.ts";

export const metadata = { title: "Audit event" };

const PATH = "/settings/audit";

const Thing = ({ entityType, entityId }: EventLine) => {
  const page = pageOf(entityType, entityId);
  return (
    <>
      <Copyable value={entityId} label={`${entityType} id`} head={10} /> {page !== null && <Link href={page}>Open</Link>}
    </>
  );
};

function factsOf(event: EventLine) {
  const { actorId, actorName, subjectId, subjectName, metadata, createdAt, auditEventId } = event;
  const requestId = metadata["requestId"];
  return [
    ["When", <Moment key="when" at={createdAt} />] as const,
    ["By", <Subject key="by" id={actorId} name={actorName} />] as const,
    ...(subjectId === undefined || subjectId === actorId
      ? []
      : [["For", <Subject key="for" id={subjectId} name={subjectName} />] as const]),
    ["About", <Thing key="about" {...event} />] as const,
    ["Event", <code key="type">{event.type}</code>] as const,
    ["Event id", <Copyable key="id" value={auditEventId} label="event id" head={10} />] as const,
    ...(typeof requestId === "string"
      ? [["Request id", <Copyable key="request" value={requestId} label="request id" head={10} />] as const]
      : []),
  ];
}

const Chained = ({ event, root, fits, length }: EventDetail) => (
  <Panel
    id="chain"
    title="Place in the chain"
    aside={
      <Badge {...(fits ? { tone: "positive", icon: "check" } : { tone: "danger", icon: "cross" })}>
        {fits ? "Matches" : "Does not match"}
      </Badge>
    }
  >
    <div className="panel-body">
      <Pairs
        items={[
          ["Number", `${event.sequence} of ${length}`],
          ["Hash", <Copyable key="hash" value={event.hash} label="hash" head={8} tail={6} />],
          ["Root of the log", <Copyable key="root" value={root} label="root of the log" head={8} tail={6} />],
        ]}
      />
    </div>
    <div className="panel-foot">
      {fits
        ? "Its hash was computed again just now, and it is in the log's tree."
        : "Its content, its hash and the log's tree do not match: somebody changed the log."}
    </div>
  </Panel>
);

export default async function AuditEventPage({ params }: { readonly params: Promise<{ readonly sequence: string }> }) {
  const { sequence } = await params;
  const caller = await requireMember(`${PATH}/${encodeURIComponent(sequence)}`);
  const detail = await found(viewAuditEvent(caller, sequence));
  const { event, length } = detail;
  return (
    <>
      <PageHeader
        back={{ href: PATH, label: "Audit log" }}
        title={eventWords(event.type)}
        actions={
          <>
            {event.sequence > 1 && (
              <Link className={buttonClass({ size: "small" })} href={`${PATH}/${event.sequence - 1}`}>
                Previous event
              </Link>
            )}
            {event.sequence < length && (
              <Link className={buttonClass({ size: "small" })} href={`${PATH}/${event.sequence + 1}`}>
                Next event
              </Link>
            )}
          </>
        }
      />
      <div className="split">
        <div className="stack">
          <Panel id="event" title="Event">
            <div className="panel-body">
              <Pairs items={factsOf(event)} />
            </div>
          </Panel>
          <Code label="What was recorded" text={JSON.stringify(event.metadata, null, 2)} />
        </div>
        <Chained {...detail} />
      </div>
    </>
  );
}
