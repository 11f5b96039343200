import { and, desc, eq, inArray, sql } from "drizzle-orm";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { membershipRoleOf } from "#lib/identity/capabilities.ts";
import type { MemberRow } from "#lib/identity/member-store.ts";
import { invitation, organization, user } from "#lib/identity/tables.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";

export type InvitationRow = {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
  readonly role: string | null;
  readonly status: string;
  readonly expiresAt: Date;
  readonly createdAt: Date;
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

/** Finds expired invitations too; lock the organization first, or two requests could invite one email address twice. */
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

export async function saveInvitation(tx: Tx, row: NewInvitation): Promise<void> {
  const { role, expiresAt, inviterId } = row;
  await tx.insert(invitation).values(row).onConflictDoUpdate({ target: invitation.id, set: { role, expiresAt, inviterId } });
}

export async function cancelPending(tx: Tx, id: string): Promise<void> {
  await tx.update(invitation).set({ status: "canceled" }).where(eq(invitation.id, id));
}

/** Cancels the person's pending invitations to `roles`, which the person may no longer give; returns the invitations' ids. */
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

/** Includes invitations that have expired. */
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

export type InvitationFacts = {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly inviterName: string;
  readonly email: string;
  readonly role: MembershipRole;
  readonly status: string;
  readonly expiresAt: Date;
  readonly ended: boolean;
};

export async function readInvitation(tx: Tx | Database, invitationId: string): Promise<InvitationFacts | null> {
  const [row] = await tx
    .select({
      organizationId: organization.id,
      organizationName: organization.name,
      inviterName: user.name,
      email: invitation.email,
      role: invitation.role,
      status: invitation.status,
      expiresAt: invitation.expiresAt,
      ended: sql<boolean>`${invitation.expiresAt} <= clock_timestamp()`,
    })
    .from(invitation)
    .innerJoin(organization, eq(organization.id, invitation.organizationId))
    .innerJoin(user, eq(user.id, invitation.inviterId))
    .where(eq(invitation.id, invitationId));
  return row ? { ...row, role: membershipRoleOf(row.role ?? "viewer") } : null;
}
