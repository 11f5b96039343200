import { z } from "zod";

export const Why = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .meta({ description: "The reason. It is stored in the audit log with your name." });

export const AuditEvent = z
  .object({
    auditEventId: z.string(),
    type: z.string().meta({ description: "An entity and what happened to it, such as payment.settled." }),
    actorId: z.string(),
    organizationId: z.string().optional(),
    subjectId: z.string().optional(),
    entityType: z.string(),
    entityId: z.string(),
    metadata: z.record(z.string(), z.unknown()),
    commitments: z.record(z.string(), z.string()).optional().meta({
      description:
        "For each member of metadata with personal text: SHA-256 of its salt (32 bytes) and the member as canonical JSON (RFC 8785).",
    }),
    salts: z.record(z.string(), z.string()).optional().meta({
      description:
        "The salts of the commitments, in hexadecimal digits. A text that was erased has no salt, and its member has the value `erased`.",
    }),
    hash: z.string().meta({
      description:
        "The leaf hash of the event: SHA-256 of a zero byte and the event as canonical JSON (RFC 8785), without this field, without salts and without the members of metadata that have a commitment.",
    }),
    createdAt: z.string(),
  })
  .meta({ id: "AuditEvent", description: "One line of an append-only chain." });
export type AuditEvent = z.infer<typeof AuditEvent>;

export const AuditVerification = z
  .object({
    valid: z.boolean(),
    count: z.number().int().meta({ description: "How many events verify, from the first one on." }),
    head: z.string().meta({ description: "The root of the tree of the events that verify (RFC 9162)." }),
    firstBad: z
      .object({ sequence: z.number().int(), auditEventId: z.string().optional(), detail: z.string() })
      .optional()
      .meta({ description: "The first event that does not verify." }),
    checkpoint: z
      .object({ sequence: z.number().int(), hash: z.string(), keyId: z.string(), signature: z.string(), signedAt: z.string() })
      .optional()
      .meta({
        description:
          "The newest signed head that the chain was compared with. Absent in the first minutes of a chain, before a head was signed. The public keys are at /.well-known/jwks.json.",
      }),
  })
  .meta({ id: "AuditVerification" });
export type AuditVerification = z.infer<typeof AuditVerification>;

export const exampleHash = "5f0c6d0ff1ac0b1d1a1a4f3a0a3d5ac4b52d3f8f2ff0c6f1a6ee0a2ed0a2b6c1";

export const exampleEvent: AuditEvent = {
  auditEventId: "aud_01kaj4n7v8e2m0x3c9t5q6r7s3",
  type: "organization.created",
  actorId: "usr_01kaj4n7v8e2m0x3c9t5q6r7s1",
  organizationId: "org_01kaj4n7v8e2m0x3c9t5q6r7s0",
  subjectId: "usr_01kaj4n7v8e2m0x3c9t5q6r7s1",
  entityType: "organization",
  entityId: "org_01kaj4n7v8e2m0x3c9t5q6r7s0",
  metadata: { name: "Acme Research" },
  hash: exampleHash,
  createdAt: "2026-11-21T12:00:00.000Z",
};
