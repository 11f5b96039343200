import { membershipRoleOf } from "#lib/identity/capabilities.ts";
import type { Invitation, Member } from "#lib/identity/members/contract.ts";
import type { MemberRow } from "#lib/identity/member-store.ts";
import type { InvitationRow } from "#lib/identity/members/invitation-store.ts";
import { toWire } from "#lib/time.ts";
import { InvitationStatus } from "#lib/vocabulary.ts";

export const presentMember = ({ role, createdAt, ...row }: MemberRow): Member => ({
  userId: row.userId,
  organizationId: row.organizationId,
  name: row.name,
  email: row.email,
  role: membershipRoleOf(role),
  createdAt: toWire(createdAt),
});

export const presentInvitation = (row: InvitationRow): Invitation => ({
  invitationId: row.id,
  organizationId: row.organizationId,
  email: row.email,
  role: membershipRoleOf(row.role ?? "viewer"),
  status: InvitationStatus.parse(row.status),
  expiresAt: toWire(row.expiresAt),
  createdAt: toWire(row.createdAt),
});
