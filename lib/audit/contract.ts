import { z } from "zod";
import { AuditEvent, AuditVerification, exampleEvent, exampleHash } from "#lib/audit-event.ts";
import { Event, exampleThinEvent } from "#lib/audit/thin-event.ts";
import { operation } from "#lib/http/operation.ts";
import { PageQuery, pageOf } from "#lib/http/paging.ts";
import { Id } from "#lib/ids.ts";

export const listAuditEvents = operation({
  id: "listAuditEvents",
  method: "GET",
  path: "/api/v1/audit/events",
  tag: "Audit",
  summary: "List the organization's audit events",
  access: { capability: "audit:read" },
  query: z.strictObject({ ...PageQuery.shape, entityId: Id.optional() }),
  response: pageOf(AuditEvent).meta({ id: "AuditEventList" }),
  problems: [],
  example: {
    query: { limit: "20", entityId: "org_01kaj4n7v8e2m0x3c9t5q6r7s0" },
    response: {
      items: [exampleEvent],
      hasMore: false,
    },
  },
});

export const listEvents = operation({
  id: "listEvents",
  method: "GET",
  path: "/api/v1/events",
  tag: "Audit",
  summary: "Read the organization's events after a number",
  description:
    "Oldest first, for programs that follow the events: store the sequence of the last item and send it as `after` in the next request. The events are those of the audit log, in their short form, and are the same that webhooks deliver. An empty list means that there are no newer events; ask again later.",
  access: { capability: "audit:read" },
  query: z.strictObject({
    after: z.coerce
      .number()
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .default(0)
      .meta({ description: "The sequence of the last event that was read. Default: 0, for all." }),
    limit: PageQuery.shape.limit,
  }),
  response: z.object({ items: z.array(Event), hasMore: z.boolean() }).meta({ id: "EventList" }),
  problems: [],
  example: { query: { after: "41", limit: "20" }, response: { items: [exampleThinEvent], hasMore: false } },
});

export const verifyAudit = operation({
  id: "verifyAudit",
  method: "POST",
  path: "/api/v1/audit/verify",
  tag: "Audit",
  summary: "Verify the organization's audit chain",
  description:
    "Reads the whole chain from its first event, computes every hash again, and compares the result with the newest signed checkpoint. So it also finds out if the newest events were removed.",
  access: { capability: "audit:read" },
  body: z.strictObject({}).meta({ id: "VerifyAudit" }),
  response: AuditVerification,
  problems: ["overloaded"],
  example: { body: {}, response: { valid: true, count: 1, head: exampleHash } },
});
