import { and, asc, count, desc, eq, inArray, sql } from "drizzle-orm";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { invitation, member, organization, session, user } from "#lib/identity/tables.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";

export type MemberRow = {
  readonly userId: string;
  readonly organizationId: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly createdAt: Date;
};

export type InvitationRow = {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
  readonly role: string | null;
  readonly status: string;
  readonly expiresAt: Date;
  readonly createdAt: Date;
};

const memberColumns = {
  userId: member.userId,
  organizationId: member.organizationId,
  name: user.name,
  email: user.email,
  role: member.role,
  createdAt: member.createdAt,
};

const invitationColumns = {
  id: invitation.id,
  organizationId: invitation.organizationId,
  email: invitation.email,
  role: invitation.role,
  status: invitation.status,
  expiresAt: invitation.expiresAt,
  createdAt: invitation.createdAt,
};

/** Serializes changes to an organization's members; joining does not wait for this lock. Null when there is no such organization. */
export async function lockOrganization(tx: Tx, organizationId: string): Promise<{ readonly name: string } | null> {
  const [row] = await tx
    .select({ name: organization.name })
    .from(organization)
    .where(eq(organization.id, organizationId))
    .for("no key update");
  return row ?? null;
}

export async function findMember(tx: Tx | Database, organizationId: string, userId: string): Promise<MemberRow | null> {
  const [row] = await tx
    .select(memberColumns)
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(and(eq(member.organizationId, organizationId), eq(member.userId, userId)));
  return row ?? null;
}

/** Whether the account with this address is a member already. */
export async function isMemberAddress(tx: Tx, organizationId: string, email: string): Promise<boolean> {
  const [row] = await tx
    .select({ id: member.id })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(and(eq(member.organizationId, organizationId), eq(user.email, email)));
  return row !== undefined;
}

/** A decision that is based on this count needs the organization's lock. */
export async function countOwners(tx: Tx | Database, organizationId: string): Promise<number> {
  const [row] = await tx
    .select({ count: count() })
    .from(member)
    .where(and(eq(member.organizationId, organizationId), eq(member.role, "owner")));
  return row?.count ?? 0;
}

export async function setRole(tx: Tx, { organizationId, userId }: MemberRow, role: MembershipRole): Promise<void> {
  await tx
    .update(member)
    .set({ role })
    .where(and(eq(member.organizationId, organizationId), eq(member.userId, userId)));
}

/** Ends the membership. Sessions of the person that were in this organization have no active organization afterwards. */
export async function deleteMember(tx: Tx, { organizationId, userId }: MemberRow): Promise<void> {
  await tx.delete(member).where(and(eq(member.organizationId, organizationId), eq(member.userId, userId)));
  await tx
    .update(session)
    .set({ activeOrganizationId: null })
    .where(and(eq(session.userId, userId), eq(session.activeOrganizationId, organizationId)));
}

/** Needs the organization's lock, so that an address has at most one open invitation. */
export async function findPending(tx: Tx, organizationId: string, email: string): Promise<InvitationRow | null> {
  const [row] = await tx
    .select(invitationColumns)
    .from(invitation)
    .where(and(eq(invitation.organizationId, organizationId), eq(invitation.email, email), eq(invitation.status, "pending")))
    .for("no key update");
  return row ?? null;
}

export async function lockInvitation(tx: Tx, organizationId: string, id: string): Promise<InvitationRow | null> {
  const [row] = await tx
    .select(invitationColumns)
    .from(invitation)
    .where(and(eq(invitation.id, id), eq(invitation.organizationId, organizationId)))
    .for("no key update");
  return row ?? null;
}

type NewInvitation = InvitationRow & { readonly inviterId: string };

/** Inserts a new invitation, or updates the role, expiry and inviter of the open one. */
export async function saveInvitation(tx: Tx, row: NewInvitation): Promise<void> {
  const { role, expiresAt, inviterId } = row;
  await tx.insert(invitation).values(row).onConflictDoUpdate({ target: invitation.id, set: { role, expiresAt, inviterId } });
}

export async function cancelPending(tx: Tx, id: string): Promise<void> {
  await tx.update(invitation).set({ status: "canceled" }).where(eq(invitation.id, id));
}

/** Cancels the person's pending invitations to `roles`, the roles that they may no longer give. Returns the ids. */
export async function cancelInvitationsOf(
  tx: Tx,
  { organizationId, userId }: MemberRow,
  roles: readonly MembershipRole[],
): Promise<readonly string[]> {
  const canceled = await tx
    .update(invitation)
    .set({ status: "canceled" })
    .where(
      and(
        eq(invitation.organizationId, organizationId),
        eq(invitation.inviterId, userId),
        eq(invitation.status, "pending"),
        inArray(sql`coalesce(${invitation.role}, 'viewer')`, [...roles]),
      ),
    )
    .returning({ id: invitation.id });
  return canceled.map(({ id }) => id);
}

/** In the order in which they joined. */
export const selectMembers = (organizationId: string, rows: number): Promise<MemberRow[]> =>
  database()
    .select(memberColumns)
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(eq(member.organizationId, organizationId))
    .orderBy(asc(member.createdAt), asc(member.id))
    .limit(rows);

/** Pending invitations, newest first, including expired ones. */
export const selectInvitations = (organizationId: string, rows: number) =>
  database()
    .select({
      ...invitationColumns,
      inviterName: user.name,
      expired: sql<boolean>`${invitation.expiresAt} <= clock_timestamp()`,
    })
    .from(invitation)
    .innerJoin(user, eq(user.id, invitation.inviterId))
    .where(and(eq(invitation.organizationId, organizationId), eq(invitation.status, "pending")))
    .orderBy(desc(invitation.id))
    .limit(rows);

/** The organization's owner; if there are several, the one who joined first. Without an owner, the organization's id. */
export async function ownerOf(db: Database, organizationId: string): Promise<string> {
  const [owner] = await db
    .select({ userId: member.userId })
    .from(member)
    .where(and(eq(member.organizationId, organizationId), eq(member.role, "owner")))
    .orderBy(asc(member.createdAt), asc(member.userId))
    .limit(1);
  return owner?.userId ?? organizationId;
}
