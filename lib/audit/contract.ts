import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { PageQuery, pageOf } from "#lib/http/paging.ts";
import { Id } from "#lib/ids.ts";

export const AuditEvent = z
  .object({
    auditEventId: z.string(),
    type: z.string().meta({ description: "entity.pastTense" }),
    actorId: z.string(),
    organizationId: z.string().optional(),
    subjectId: z.string().optional(),
    entityType: z.string(),
    entityId: z.string(),
    metadata: z.record(z.string(), z.unknown()),
    hash: z.string().meta({ description: "SHA-256 over the event and the hash before it." }),
    createdAt: z.string(),
  })
  .meta({ id: "AuditEvent", description: "One line of an append-only chain." });
export type AuditEvent = z.infer<typeof AuditEvent>;

const AuditVerification = z
  .object({
    valid: z.boolean(),
    count: z.number().int().meta({ description: "How many events verify, from the first one on." }),
    head: z.string().meta({ description: "The hash of the newest event that verifies." }),
    firstBad: z
      .object({ sequence: z.number().int(), auditEventId: z.string().optional(), detail: z.string() })
      .optional()
      .meta({ description: "The first place that does not verify." }),
  })
  .meta({ id: "AuditVerification" });
export type AuditVerification = z.infer<typeof AuditVerification>;

const hash = "5f0c6d0ff1ac0b1d1a1a4f3a0a3d5ac4b52d3f8f2ff0c6f1a6ee0a2ed0a2b6c1";

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
      items: [
        {
          auditEventId: "aud_01kaj4n7v8e2m0x3c9t5q6r7s3",
          type: "organization.created",
          actorId: "usr_01kaj4n7v8e2m0x3c9t5q6r7s1",
          organizationId: "org_01kaj4n7v8e2m0x3c9t5q6r7s0",
          subjectId: "usr_01kaj4n7v8e2m0x3c9t5q6r7s1",
          entityType: "organization",
          entityId: "org_01kaj4n7v8e2m0x3c9t5q6r7s0",
          metadata: { name: "Acme Research" },
          hash,
          createdAt: "2026-11-21T12:00:00.000Z",
        },
      ],
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
  description: "Reads the whole chain from its first event and computes every hash again.",
  access: { capability: "audit:read" },
  body: z.strictObject({}).meta({ id: "VerifyAudit" }),
  response: AuditVerification,
  problems: ["overloaded"],
  example: { body: {}, response: { valid: true, count: 1, head: hash } },
});
