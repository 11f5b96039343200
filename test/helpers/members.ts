import * as identity from "#lib/identity/sessions/contract.ts";
import { cancelInvitation } from "#lib/identity/members/cancel-invitation.ts";
import { inviteMember } from "#lib/identity/members/invite-member.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { removeMember } from "#lib/identity/members/remove-member.ts";
import { completeOnboarding } from "#lib/identity/sessions/complete-onboarding.ts";
import { updateMember } from "#lib/identity/members/update-member.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";
import type { Owner, Person } from "#test/identity.ts";
import { send } from "#test/tenant.ts";

export const invite = (by: Owner, body: unknown, key?: string) =>
  send(contract.inviteMember, inviteMember, { id: by.organizationId, body, as: by.credential, ...(key && { key }) });

export const cancel = (by: Owner, invitationId: string, organizationId = by.organizationId, key?: string) =>
  send(contract.cancelInvitation, cancelInvitation, {
    id: [organizationId, invitationId],
    as: by.credential,
    ...(key && { key }),
  });

export const changeRole = (by: Owner, userId: string, role: MembershipRole, organizationId = by.organizationId) =>
  send(contract.updateMember, updateMember, { id: [organizationId, userId], body: { role }, as: by.credential });

export const remove = (by: Owner, userId: string, body: unknown = {}, organizationId = by.organizationId) =>
  send(contract.removeMember, removeMember, { id: [organizationId, userId], body, as: by.credential });

/** Accepts an invitation, and with it joins the organization. */
export const accept = (person: Person, invitationToken: string) => {
  const body = { organizationName: "ignored", productRoles: ["buyer"], invitationToken };
  return send(identity.completeOnboarding, completeOnboarding, { body, as: person.credential });
};
