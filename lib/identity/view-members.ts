import { database } from "#lib/db/client.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { membershipRoleOf } from "#lib/identity/capabilities.ts";
import type { Invitation, Member } from "#lib/identity/member-contract.ts";
import { countOwners, findMember, selectInvitations, selectMembers } from "#lib/identity/member-store.ts";
import { grantableRoles } from "#lib/identity/membership.ts";
import { presentInvitation, presentMember } from "#lib/identity/present-member.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";

/** What the page shows at once. Organizations with more people are not what it is made for; it says when there are more. */
const ROWS = 200;

export type OpenInvitation = Invitation & { readonly invitedBy: string; readonly expired: boolean };

export type MembersView = {
  readonly members: readonly Member[];
  readonly invitations: readonly OpenInvitation[];
  readonly more: boolean;
  /** The roles that the reader may give and take; empty for who may not change members. */
  readonly grantable: readonly MembershipRole[];
  readonly owners: number;
};

/** Who is in the caller's active organization. Every member may see it; open invitations only who may send them. */
export async function viewMembers(caller: SessionCaller & { readonly organizationId: string }): Promise<MembersView> {
  const { organizationId, userId } = caller;
  const manages = caller.capabilities.has("members:manage");
  const [rows, own, owners, invitations] = await Promise.all([
    selectMembers(organizationId, ROWS + 1),
    findMember(database(), organizationId, userId),
    countOwners(database(), organizationId),
    manages ? selectInvitations(organizationId, ROWS) : [],
  ]);
  return {
    members: rows.slice(0, ROWS).map(presentMember),
    invitations: invitations.map(({ inviterName, expired, ...row }) => ({
      ...presentInvitation(row),
      invitedBy: inviterName,
      expired,
    })),
    more: rows.length > ROWS,
    grantable: own ? grantableRoles(membershipRoleOf(own.role)) : [],
    owners,
  };
}
