import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { LOGO, LOGO_CHARS_MAX } from "#lib/identity/members/logo.ts";
import { InvitationStatus, MembershipRole, ProductRole } from "#lib/vocabulary.ts";
import { AmountText } from "#lib/amount-text.ts";

const keys = z.enum(["keep", "revoke"]).optional().meta({
  description:
    "What happens to valid keys that the person made and that have more rights than the person has afterwards. If it is left out and there are such keys, the change is refused, and the refusal names them.",
});
const reason = z.string().trim().min(1).max(500);

export const Invitation = z
  .object({
    invitationId: z.string(),
    organizationId: z.string(),
    email: z.string(),
    role: MembershipRole,
    status: InvitationStatus,
    expiresAt: z.string().meta({ description: "48 hours after it was last sent." }),
    createdAt: z.string(),
  })
  .meta({
    id: "Invitation",
    description: "It makes the account of one e-mail address a member. Its secret is only in the mail.",
  });
export type Invitation = z.infer<typeof Invitation>;

export const Member = z
  .object({
    userId: z.string(),
    organizationId: z.string(),
    name: z.string(),
    email: z.string(),
    role: MembershipRole,
    createdAt: z.string().meta({ description: "When the person joined." }),
  })
  .meta({ id: "Member", description: "A person in an organization." });
export type Member = z.infer<typeof Member>;

const organizationId = "org_01kaj4n7v8e2m0x3c9t5q6r7s0";
const invitation: Invitation = {
  invitationId: "inv_01kaj4n7v8e2m0x3c9t5q6r7s6",
  organizationId,
  email: "grace@acme.example",
  role: "approver",
  status: "pending",
  expiresAt: "2026-11-23T12:00:00.000Z",
  createdAt: "2026-11-21T12:00:00.000Z",
};
const member: Member = {
  userId: "usr_01kaj4n7v8e2m0x3c9t5q6r7s7",
  organizationId,
  name: "Grace",
  email: "grace@acme.example",
  role: "approver",
  createdAt: "2026-11-21T12:30:00.000Z",
};

export const inviteMember = operation({
  id: "inviteMember",
  method: "POST",
  path: "/api/v1/auth/organizations/{organizationId}/invitations",
  tag: "Identity",
  summary: "Invite a person by e-mail address, or send the invitation again",
  description:
    "If the address has an open invitation, it is sent again with the role of this request, and is valid for another 48 hours. Only an account with this address can accept it. Only an owner invites owners.",
  access: { sessionCapability: "members:manage" },
  body: z
    .strictObject({
      email: z
        .string()
        .trim()
        .max(254)
        .pipe(z.email("Write an e-mail address, such as grace@acme.example."))
        .transform((email) => email.toLowerCase()),
      role: MembershipRole.default("viewer"),
    })
    .meta({ id: "InviteMember" }),
  response: Invitation,
  problems: ["step_up_required", "forbidden", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    params: { organizationId },
    body: { email: invitation.email, role: invitation.role },
    response: invitation,
  },
});

export const cancelInvitation = operation({
  id: "cancelInvitation",
  method: "POST",
  path: "/api/v1/auth/organizations/{organizationId}/invitations/{id}/cancel",
  tag: "Identity",
  summary: "Cancel an open invitation",
  description: "Canceling again changes nothing. If the invitation was accepted, the answer is 409: remove the member instead.",
  access: { sessionCapability: "members:manage" },
  body: z.strictObject({}).meta({ id: "CancelInvitation" }),
  response: Invitation,
  problems: ["forbidden", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    params: { organizationId, id: invitation.invitationId },
    body: {},
    response: { ...invitation, status: "canceled" },
  },
});

export const updateMember = operation({
  id: "updateMember",
  method: "POST",
  path: "/api/v1/auth/organizations/{organizationId}/members/{userId}/role",
  tag: "Identity",
  summary: "Change a member's role",
  description:
    "Only an owner can make somebody an owner or change an owner; the last owner stays an owner. Rights that the new role lacks end with this answer, and open invitations that the new role could not send are canceled.",
  access: { sessionCapability: "members:manage" },
  body: z.strictObject({ role: MembershipRole, reason: reason.optional(), keys }).meta({ id: "UpdateMember" }),
  response: Member,
  problems: [
    "step_up_required",
    "forbidden",
    "not_found",
    "conflict",
    "keys_undecided",
    "idempotency_in_flight",
    "idempotency_key_reused",
  ],
  example: { params: { organizationId, userId: member.userId }, body: { role: "approver" }, response: member },
});

export const removeMember = operation({
  id: "removeMember",
  method: "POST",
  path: "/api/v1/auth/organizations/{organizationId}/members/{userId}/remove",
  tag: "Identity",
  summary: "Remove a member",
  description:
    "After this answer the person has no access to the organization any more, and open invitations that they sent are canceled. Service accounts belong to the organization and stay; `keys` says whether the keys that the person made stay too. The last owner cannot be removed.",
  access: { sessionCapability: "members:manage" },
  body: z.strictObject({ reason: reason.optional(), keys }).meta({ id: "RemoveMember" }),
  response: Member,
  problems: ["forbidden", "not_found", "conflict", "keys_undecided", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { organizationId, userId: member.userId }, body: { reason: "Left the company." }, response: member },
});

const stepUpLimits = {
  above: AmountText.optional(),
  aboveUnverified: AmountText.meta({ description: "The same amount for payees that are not verified." }).optional(),
};

export const setStepUpThreshold = operation({
  id: "setStepUpThreshold",
  method: "PUT",
  path: "/api/v1/auth/organizations/{organizationId}/step-up-threshold",
  tag: "Identity",
  summary: "Set the amounts above which an approval asks for a step-up",
  description:
    "Applies from the next approval on, in whole units of the payment's asset. The amounts that the person let through in the last 24 hours are added: approvals, payments allowed once, and mandates that they put in force or widened. If `above` or `aboveUnverified` is left out, it gets its default: 100, and 25 for payees that are not verified. Raising one needs a proof for exactly these amounts: if it answers step_up_required, send metadata.act to stepUp and repeat the call. The other reasons for a step-up do not change.",
  access: { sessionCapability: "members:manage" },
  body: z.strictObject(stepUpLimits).meta({ id: "SetStepUpThreshold" }),
  response: z.object({ organizationId: z.string(), ...stepUpLimits }).meta({ id: "StepUpThreshold" }),
  problems: ["step_up_required", "forbidden", "not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    params: { organizationId },
    body: { above: "250", aboveUnverified: "50" },
    response: { organizationId, above: "250", aboveUnverified: "50" },
  },
});

const isTimeZone = (name: string): boolean => {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
};

export const updateOrganization = operation({
  id: "updateOrganization",
  method: "PATCH",
  path: "/api/v1/auth/organizations/{organizationId}",
  tag: "Identity",
  summary: "Change an organization's name, logo and defaults",
  description:
    "Fields that are left out do not change. The product roles decide which pages members see; removing one deletes nothing. The pages propose the time zone for new mandates. The logo is a PNG, JPEG or WebP picture as a data URL, which only members see. null removes a time zone or a logo.",
  access: { sessionCapability: "members:manage" },
  body: z
    .strictObject({
      name: z.string().trim().min(1).max(200).optional(),
      productRoles: z.array(ProductRole).min(1).max(2).optional(),
      timezone: z.string().max(64).refine(isTimeZone, "Use a time zone such as Europe/Vienna or UTC.").nullable().optional(),
      logo: z
        .string()
        .max(LOGO_CHARS_MAX, "This picture is too large. Use one of at most 128 pixels.")
        .regex(LOGO, "Use a PNG, JPEG or WebP picture as a data URL.")
        .nullable()
        .optional(),
    })
    .meta({ id: "UpdateOrganization" }),
  response: z
    .object({
      organizationId: z.string(),
      name: z.string(),
      slug: z.string(),
      productRoles: z.array(ProductRole),
      timezone: z.string().optional(),
      hasLogo: z.boolean(),
    })
    .meta({ id: "OrganizationSettings" }),
  problems: ["forbidden", "not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    params: { organizationId },
    body: { name: "Acme Research", timezone: "Europe/Vienna" },
    response: {
      organizationId,
      name: "Acme Research",
      slug: "acme-research",
      productRoles: ["buyer"],
      timezone: "Europe/Vienna",
      hasLogo: false,
    },
  },
});
