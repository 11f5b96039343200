import { z } from "zod";
import { AuditEvent, exampleHash, Why } from "#lib/audit-event.ts";
import { operation } from "#lib/http/operation.ts";
import { Id } from "#lib/ids.ts";

export const emergencyRevoke = operation({
  id: "emergencyRevoke",
  method: "POST",
  path: "/api/v1/platform/emergency/revoke",
  tag: "Platform",
  summary: "Stop a mandate, an agent or a seller at once",
  description:
    "Several are stopped together or not at all. When this is answered, nothing new is authorized, approved or submitted with any of them, on any process; what was submitted before is followed to its end. The event names the newest 500 executions of it; moreExecutions says that there are more. A repeat after these have ended names the next ones, and leaves out moreExecutions when it names all. Stopping a seller also stops every seller at its verified domain (subdomains and www included) or paid to an address that it has proven; what it only claimed stops sellers that have proven nothing, and nobody else. It cannot be undone. A repeat is accepted again, with its own event.",
  access: { platformCapability: "platform.emergency.revoke" },
  urgent: true,
  body: z
    .strictObject({ reason: Why, mandateId: Id.optional(), agentId: Id.optional(), sellerId: Id.optional() })
    .meta({ id: "EmergencyRevoke" }),
  response: z
    .object({ actionId: z.string(), status: z.literal("accepted"), auditEvent: AuditEvent })
    .meta({ id: "EmergencyRevocation" }),
  problems: ["forbidden", "not_found", "rate_limited", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    body: { reason: "Leaked agent key, ticket 4471", mandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s4" },
    response: {
      actionId: "act_01kaj4n7v8e2m0x3c9t5q6r7sz",
      status: "accepted",
      auditEvent: {
        auditEventId: "aud_01kaj4n7v8e2m0x3c9t5q6r7s3",
        type: "emergency.revoked",
        actorId: "usr_01kaj4n7v8e2m0x3c9t5q6r7s1",
        entityType: "action",
        entityId: "act_01kaj4n7v8e2m0x3c9t5q6r7sz",
        metadata: {
          reason: "Leaked agent key, ticket 4471",
          mandateId: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s4",
          hit: { mandate: { organizationId: "org_01kaj4n7v8e2m0x3c9t5q6r7s0", was: "active" } },
          submittedExecutions: [],
        },
        hash: exampleHash,
        createdAt: "2026-11-21T12:00:00.000Z",
      },
    },
  },
});
