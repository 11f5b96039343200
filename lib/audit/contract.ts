import { z } from "zod";
import { AuditEvent, AuditVerification, exampleEvent, exampleHash } from "#lib/audit-event.ts";
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

export const verifyAudit = operation({
  id: "verifyAudit",
  method: "POST",
  path: "/api/v1/audit/verify",
  tag: "Audit",
  summary: "Verify the organization's audit chain",
  description:
    "Reads the whole chain from its first event, computes every hash again, and compares with the newest signed checkpoint: a removed end of the chain is found.",
  access: { capability: "audit:read" },
  body: z.strictObject({}).meta({ id: "VerifyAudit" }),
  response: AuditVerification,
  problems: ["overloaded"],
  example: { body: {}, response: { valid: true, count: 1, head: exampleHash } },
});
