import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { exampleSession, Session } from "#lib/identity/session-schema.ts";
import { ProductRole } from "#lib/vocabulary.ts";

const SessionReply = z.object({ session: Session }).meta({ id: "SessionReply" });
const name = z.string().trim().min(1).max(200);

export const getSession = operation({
  id: "getSession",
  method: "GET",
  path: "/api/v1/auth/session",
  tag: "Identity",
  summary: "Read the session",
  access: "session",
  response: SessionReply,
  problems: [],
  example: { response: { session: exampleSession } },
});

export const completeOnboarding = operation({
  id: "completeOnboarding",
  method: "POST",
  path: "/api/v1/auth/onboarding",
  tag: "Identity",
  summary: "Complete the account onboarding",
  description:
    "Creates an organization and makes the person its owner, or joins the organization of an invitation; organizationName is then ignored. It can be called again for another organization, up to ten for each person. The organization becomes the session's active one.",
  access: "session",
  body: z
    .strictObject({
      organizationName: name,
      organizationSlug: z
        .string()
        .regex(/^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/, "Use 1 to 48 lower-case letters, digits and hyphens.")
        .optional(),
      productRoles: z.array(ProductRole).min(1).max(2),
      invitationToken: z.string().min(1).max(128).optional(),
    })
    .meta({ id: "CompleteOnboarding" }),
  response: SessionReply,
  problems: [
    "forbidden",
    "not_found",
    "conflict",
    "slug_taken",
    "organization_limit_reached",
    "idempotency_in_flight",
    "idempotency_key_reused",
  ],
  example: {
    body: { organizationName: "Acme Research", organizationSlug: "acme-research", productRoles: ["buyer"] },
    response: { session: exampleSession },
  },
});

export const activateOrganization = operation({
  id: "activateOrganization",
  method: "POST",
  path: "/api/v1/auth/organizations/{organizationId}/activate",
  tag: "Identity",
  summary: "Set the active organization",
  access: "session",
  response: SessionReply,
  problems: ["not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { organizationId: "org_01kaj4n7v8e2m0x3c9t5q6r7s0" }, response: { session: exampleSession } },
});

const Ended = z.object({ endedCount: z.int() }).meta({ id: "EndedSessions" });
const sessionId = "ses_01kaj4n7v8e2m0x3c9t5q6r7v0";

export const endSession = operation({
  id: "endSession",
  method: "POST",
  path: "/api/v1/auth/sessions/{sessionId}/end",
  tag: "Identity",
  summary: "End one of the person's sessions",
  description: "After this answer no process accepts the session. Sign out to end the session of this request.",
  access: "session",
  body: z.strictObject({}).meta({ id: "EndSession" }),
  response: Ended,
  problems: ["not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { sessionId }, body: {}, response: { endedCount: 1 } },
});

export const endOtherSessions = operation({
  id: "endOtherSessions",
  method: "POST",
  path: "/api/v1/auth/sessions/end-others",
  tag: "Identity",
  summary: "End every other session of the person",
  access: "session",
  body: z.strictObject({}).meta({ id: "EndOtherSessions" }),
  response: Ended,
  problems: ["idempotency_in_flight", "idempotency_key_reused"],
  example: { body: {}, response: { endedCount: 2 } },
});

export const changePassword = operation({
  id: "changePassword",
  method: "POST",
  path: "/api/v1/auth/password",
  tag: "Identity",
  summary: "Change the password",
  description: "Every other session of the person ends. The number of attempts is limited.",
  access: "session",
  body: z
    .strictObject({ currentPassword: z.string().min(1).max(128), newPassword: z.string().min(12).max(128) })
    .meta({ id: "ChangePassword" }),
  response: Ended,
  problems: [],
  example: {
    body: { currentPassword: "correct horse battery staple", newPassword: "another long password" },
    response: { endedCount: 2 },
  },
});
