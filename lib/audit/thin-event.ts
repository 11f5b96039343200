import { z } from "zod";
import type { ChainedEvent } from "#lib/audit/chain.ts";
import { toWire } from "#lib/time.ts";

/** Without the optional `actorId` and `metadata`, an event contains no names or reasons of people. */
export const Event = z
  .object({
    id: z.string().meta({ description: "The event's id: the auditEventId of the audit log." }),
    type: z.string().meta({ description: "An entity and what happened to it, such as payment.settled, as in the audit log." }),
    timestamp: z.string(),
    sequence: z.int().meta({ description: "The event's number in the organization. Numbers grow by one and have no gaps." }),
    data: z
      .object({
        entityType: z.string(),
        entityId: z.string(),
        status: z.string().meta({ description: "The second part of the type, such as settled." }),
        amount: z.string().optional(),
        asset: z.string().optional(),
        chain: z.string().optional(),
      })
      .catchall(z.string())
      .meta({ description: "Further members are ids of what the event concerns, such as mandateId or checkoutIntentId." }),
    actorId: z.string().optional().meta({ description: "Who acted. Only in messages to an endpoint that gets full events." }),
    metadata: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: "All metadata, as in the audit log. Only in messages to an endpoint that gets full events." }),
  })
  .meta({ id: "Event", description: "A short form of the event. Read the entity itself for more." });
export type Event = z.infer<typeof Event>;

const NAMED = /^(?:amount|asset|chain|[a-z][A-Za-z]*Id)$/;

/** Other fields of the metadata can contain names, email addresses or reasons that people wrote. */
export function thinEvent({ auditEventId, type, createdAt, sequence, ...event }: ChainedEvent): Event {
  const { entityType, entityId, subjectId, metadata } = event;
  const named = Object.entries(metadata).flatMap(([name, value]) =>
    typeof value === "string" && NAMED.test(name) ? [[name, value] as const] : [],
  );
  const status = type.slice(type.indexOf(".") + 1);
  const data = { ...Object.fromEntries(named), ...(subjectId !== null && { subjectId }), entityType, entityId, status };
  return { id: auditEventId, type, timestamp: toWire(createdAt), sequence, data };
}

/** With all of the metadata, which can hold names and reasons of people. */
export const fullEvent = (event: ChainedEvent): Event => ({
  ...thinEvent(event),
  actorId: event.actorId,
  metadata: { ...event.metadata },
});

export const exampleThinEvent: Event = {
  id: "aud_01kaj4n7v8e2m0x3c9t5q6r7s3",
  type: "payment.authorized",
  timestamp: "2026-11-21T12:00:00.000Z",
  sequence: 42,
  data: {
    amount: "0.25",
    asset: "USDC",
    chain: "eip155:84532",
    mandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7t0",
    subjectId: "sa_01kaj4n7v8e2m0x3c9t5q6r7s2",
    entityType: "authorization",
    entityId: "aut_01kaj4n7v8e2m0x3c9t5q6r7s3",
    status: "authorized",
  },
};
