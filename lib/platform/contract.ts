import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { exampleSession, Session } from "#lib/identity/session-schema.ts";
import { PlatformCapability, PlatformRole } from "#lib/vocabulary.ts";
import { AuditEvent, AuditVerification, exampleEvent, exampleHash, Why } from "#lib/audit-event.ts";
import { PageQuery, pageOf } from "#lib/http/paging.ts";
import { Id } from "#lib/ids.ts";

export const claimPlatform = operation({
  id: "claimPlatform",
  method: "POST",
  path: "/api/v1/platform/claim",
  tag: "Platform",
  summary: "Become the platform's first admin",
  description:
    "Takes the one-time code that the service printed at its first start in production. In the sandbox the first person who onboards becomes the admin, and this operation is not needed.",
  access: "session",
  body: z.strictObject({ setupCode: z.string().min(1).max(64) }).meta({ id: "ClaimPlatform" }),
  response: z.object({ session: Session }).meta({ id: "ClaimedPlatform" }),
  problems: ["step_up_required", "setup_code_invalid", "already_claimed", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    body: { setupCode: "7K2M-9QXR-4V6T-8WYZ-1A3B-5CDE" },
    response: {
      session: {
        ...exampleSession,
        platformRoles: ["user" as const, "admin" as const],
        platformCapabilities: PlatformCapability.options,
      },
    },
  },
});

const Chain = Id.meta({
  description:
    "An organization's id, `platform`, or `checkpoints`, the chain that records the signed heads of the others. Default: every chain.",
});

export const listPlatformAuditEvents = operation({
  id: "listPlatformAuditEvents",
  method: "GET",
  path: "/api/v1/platform/audit/events",
  tag: "Platform",
  summary: "List audit events of all organizations",
  description: "Newest first, of all chains or of one. The chain of checkpoints is listed only if the request names it.",
  access: { platformCapability: "platform.audit.read" },
  query: z.strictObject({ ...PageQuery.shape, chain: Chain.optional(), entityId: Id.optional() }),
  response: pageOf(AuditEvent).meta({ id: "PlatformAuditEventList" }),
  problems: [],
  example: { query: { limit: "20", chain: "platform" }, response: { items: [exampleEvent], hasMore: false } },
});

export const verifyPlatformAudit = operation({
  id: "verifyPlatformAudit",
  method: "POST",
  path: "/api/v1/platform/audit/verify",
  tag: "Platform",
  summary: "Verify audit chains of all organizations",
  description:
    "Computes every hash again, of all chains or of one. `head` and `checkpoint` belong to the platform's chain, or to the chain that the request names.",
  access: { platformCapability: "platform.audit.read" },
  body: z.strictObject({ chain: Chain.optional() }).meta({ id: "VerifyPlatformAudit" }),
  response: AuditVerification.extend({
    chains: z.number().int().meta({ description: "How many chains were verified." }),
    badChain: z.string().optional().meta({ description: "The chain of firstBad." }),
  }).meta({ id: "PlatformAuditVerification" }),
  problems: ["overloaded"],
  example: { body: {}, response: { valid: true, count: 1, head: exampleHash, chains: 1 } },
});

export const PlatformUser = z
  .object({
    userId: z.string(),
    email: z.string(),
    name: z.string(),
    image: z.string().optional(),
    emailVerified: z.boolean(),
    platformRoles: z.array(PlatformRole),
    banned: z.boolean(),
    banReason: z.string().optional(),
    banExpires: z.string().optional(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "PlatformUser", description: "A person, as administrators of the platform see them." });
export type PlatformUser = z.infer<typeof PlatformUser>;

const example: PlatformUser = {
  userId: "usr_01kaj4n7v8e2m0x3c9t5q6r7s7",
  email: "grace@acme.example",
  name: "Grace",
  emailVerified: true,
  platformRoles: ["user", "auditor"],
  banned: false,
  createdAt: "2026-11-20T12:00:00.000Z",
  updatedAt: "2026-11-21T12:00:00.000Z",
};
const params = { userId: example.userId };

export const listUsers = operation({
  id: "listUsers",
  method: "GET",
  path: "/api/v1/platform/users",
  tag: "Platform",
  summary: "List the platform's users",
  description: "Newest first. `search` is an id, or the beginning of an e-mail address or a name.",
  access: { platformCapability: "platform.users.read" },
  query: z.strictObject({
    ...PageQuery.shape,
    search: z.string().trim().min(1).max(254).optional(),
    role: PlatformRole.exclude(["user"]).optional().meta({ description: "Only people with this platform role." }),
    banned: z.enum(["true"]).optional().meta({ description: "Only banned people." }),
  }),
  response: pageOf(PlatformUser).meta({ id: "PlatformUserList" }),
  problems: [],
  example: { query: { limit: "20", search: "grace@" }, response: { items: [example], hasMore: false } },
});

export const updateUserRoles = operation({
  id: "updateUserRoles",
  method: "POST",
  path: "/api/v1/platform/users/{userId}/roles",
  tag: "Platform",
  summary: "Change a user's platform roles",
  description:
    "Replaces the roles; everyone keeps `user`. If `roles` is left out, nothing changes. Nobody can give themselves a role. The last admin who is not banned stays an admin. Rights that the new roles lack end with this answer.",
  access: { platformCapability: "platform.roles.update" },
  body: z.strictObject({ reason: Why, platformRoles: z.array(PlatformRole).max(8).optional() }).meta({ id: "UpdateUserRoles" }),
  response: PlatformUser,
  problems: ["step_up_required", "forbidden", "not_found", "last_admin", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params, body: { reason: "Quarterly review of the audit trail", platformRoles: ["auditor"] }, response: example },
});

export const revokeUserSessions = operation({
  id: "revokeUserSessions",
  method: "POST",
  path: "/api/v1/platform/users/{userId}/sessions/revoke",
  tag: "Platform",
  summary: "End all sessions of a user",
  description: "After this answer no session of the user is accepted. The person may sign in again.",
  access: { platformCapability: "platform.sessions.revoke" },
  body: z.strictObject({ reason: Why }).meta({ id: "RevokeUserSessions" }),
  response: z.object({ userId: z.string(), revokedCount: z.number().int().min(0) }).meta({ id: "RevokedSessions" }),
  problems: ["forbidden", "not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params, body: { reason: "The laptop was lost." }, response: { userId: example.userId, revokedCount: 3 } },
});

const banned: PlatformUser = { ...example, banned: true, banReason: "Sold what was never delivered" };

export const banUser = operation({
  id: "banUser",
  method: "POST",
  path: "/api/v1/platform/users/{userId}/ban",
  tag: "Platform",
  summary: "Ban a user and end all sessions",
  description:
    "Without banExpires the ban has no end. Banning again replaces reason and end. Service accounts belong to organizations and continue to work. Nobody can ban themselves, or a user with platform rights that they lack. The last admin cannot be banned.",
  access: { platformCapability: "platform.users.ban" },
  body: z
    .strictObject({
      reason: Why,
      banExpires: z.iso
        .datetime({ offset: true })
        .optional()
        .meta({ description: "When the ban ends. It must be in the future." }),
    })
    .meta({ id: "BanUser" }),
  response: PlatformUser,
  problems: ["forbidden", "not_found", "last_admin", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params, body: { reason: "Sold what was never delivered" }, response: banned },
});

export const unbanUser = operation({
  id: "unbanUser",
  method: "POST",
  path: "/api/v1/platform/users/{userId}/unban",
  tag: "Platform",
  summary: "Lift a user's ban",
  description: "Nothing changes if the user is not banned.",
  access: { platformCapability: "platform.users.ban" },
  body: z.strictObject({ reason: Why }).meta({ id: "UnbanUser" }),
  response: PlatformUser,
  problems: ["step_up_required", "forbidden", "not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params, body: { reason: "The complaint was withdrawn." }, response: example },
});

export const emergencyRevoke = operation({
  id: "emergencyRevoke",
  method: "POST",
  path: "/api/v1/platform/emergency/revoke",
  tag: "Platform",
  summary: "Stop a mandate, an agent or a seller at once",
  description:
    "Either all of them are stopped or none. After this answer nothing new is authorized, approved or submitted with any of them, in any process; payments that were submitted before are followed to their end. The event names the newest 500 of their executions; moreExecutions says that there are more. A repeat after these have ended names the next ones, and leaves out moreExecutions if it names all. Stopping a seller also stops every seller at its verified domain (including subdomains and www) and every seller that is paid to an address that it has proven. A domain or address that it only claimed stops only sellers that have proven nothing. It cannot be undone. A repeat is accepted again, with its own event.",
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
