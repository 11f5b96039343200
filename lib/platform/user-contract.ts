import { z } from "zod";
import { Why } from "#lib/audit-event.ts";
import { operation } from "#lib/http/operation.ts";
import { PageQuery, pageOf } from "#lib/http/paging.ts";
import { PlatformRole } from "#lib/vocabulary.ts";

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
  .meta({ id: "PlatformUser", description: "A person, as the platform's administration sees one." });
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
    "Replaces the roles; everyone keeps `user`, and left out they stay as they are. Nobody can give themselves a role. The last admin who is not banned stays one. Rights that the new roles lack end with this answer.",
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
    "Without banExpires the ban has no end. Banning again replaces reason and end. Service accounts belong to organizations and go on. Nobody can ban themselves, or a user with platform rights that they lack. The last admin stays.",
  access: { platformCapability: "platform.users.ban" },
  body: z
    .strictObject({
      reason: Why,
      banExpires: z.iso.datetime({ offset: true }).optional().meta({ description: "Until when; in the future." }),
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
  description: "A user who is not banned stays as they are.",
  access: { platformCapability: "platform.users.ban" },
  body: z.strictObject({ reason: Why }).meta({ id: "UnbanUser" }),
  response: PlatformUser,
  problems: ["step_up_required", "forbidden", "not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params, body: { reason: "The complaint was withdrawn." }, response: example },
});
