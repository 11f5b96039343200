import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import type { MemberCaller } from "#lib/http/operation.ts";
import { membershipRoleOf } from "#lib/identity/capabilities.ts";
import { invitationTokenOf } from "#lib/identity/members/invitation-token.ts";
import type { Invitation, Member } from "#lib/identity/members/contract.ts";
import { liveKeysMade, type MadeKey } from "#lib/identity/keys/made-keys-store.ts";
import { countOwners, findMember, selectMembers } from "#lib/identity/member-store.ts";
import { selectInvitations } from "#lib/identity/members/invitation-store.ts";
import { grantableRoles } from "#lib/identity/members/membership.ts";
import { presentInvitation, presentMember } from "#lib/identity/members/present-member.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";

const ROWS = 200;

export type OpenInvitation = Invitation & {
  readonly invitedBy: string;
  readonly expired: boolean;
  /** Present only if this installation neither sends nor keeps mail and the reader may invite people to this role. */
  readonly link?: string;
};

export type ShownKey = Pick<MadeKey, "keyId" | "name" | "preview">;

export type MembersView = {
  readonly members: readonly Member[];
  /** By the user id of the person who created or allowed them; empty if the reader may not change members. */
  readonly keysMade: Readonly<Record<string, readonly ShownKey[]>>;
  readonly invitations: readonly OpenInvitation[];
  readonly more: boolean;
  /** Empty if the reader may not change members. */
  readonly grantable: readonly MembershipRole[];
  readonly owners: number;
  /** True if invitations are sent by mail or kept in the outbox; otherwise people share the link. */
  readonly mailed: boolean;
};

function keysByMaker(keys: readonly MadeKey[]): Record<string, ShownKey[]> {
  const made: Record<string, ShownKey[]> = {};
  for (const { userId, keyId, name, preview } of keys) (made[userId] ??= []).push({ keyId, name, preview });
  return made;
}

/** Only callers who may manage members see open invitations. */
export async function viewMembers(caller: MemberCaller): Promise<MembersView> {
  const { organizationId, userId } = caller;
  const manages = caller.capabilities.has("members:manage");
  const [rows, own, owners, invitations, keys] = await Promise.all([
    selectMembers(organizationId, ROWS + 1),
    findMember(database(), organizationId, userId),
    countOwners(database(), organizationId),
    manages ? selectInvitations(organizationId, ROWS) : [],
    manages ? liveKeysMade(database(), organizationId, null) : [],
  ]);
  const grantable = own ? grantableRoles(membershipRoleOf(own.role)) : [];
  const mailed = mailDelivery() !== "none";
  return {
    members: rows.slice(0, ROWS).map(presentMember),
    keysMade: keysByMaker(keys),
    invitations: invitations.map(({ inviterName, expired, ...row }) => {
      const invitation = presentInvitation(row);
      const link = !mailed && grantable.includes(invitation.role) && `${env().BASE_URL}/invitations/${invitationTokenOf(row.id)}`;
      return { ...invitation, invitedBy: inviterName, expired, ...(link !== false && { link }) };
    }),
    more: rows.length > ROWS,
    grantable,
    owners,
    mailed,
  };
}
