import { and, asc, count, eq } from "drizzle-orm";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { member, organization, session, user } from "#lib/identity/tables.ts";
import type { MembershipRole } from "#lib/vocabulary.ts";

export type MemberRow = {
  readonly userId: string;
  readonly organizationId: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
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

/** Changes to members run one after the other; a person who joins the organization does not take this lock. */
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

export async function isMemberAddress(tx: Tx, organizationId: string, email: string): Promise<boolean> {
  const [row] = await tx
    .select({ id: member.id })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(and(eq(member.organizationId, organizationId), eq(user.email, email)));
  return row !== undefined;
}

/** Lock the organization first if a decision depends on the number. */
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

export async function deleteMember(tx: Tx, { organizationId, userId }: MemberRow): Promise<void> {
  await tx.delete(member).where(and(eq(member.organizationId, organizationId), eq(member.userId, userId)));
  await tx
    .update(session)
    .set({ activeOrganizationId: null })
    .where(and(eq(session.userId, userId), eq(session.activeOrganizationId, organizationId)));
}

export const selectMembers = (organizationId: string, rows: number): Promise<MemberRow[]> =>
  database()
    .select(memberColumns)
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(eq(member.organizationId, organizationId))
    .orderBy(asc(member.createdAt), asc(member.id))
    .limit(rows);

/** Of several owners, the one who joined first; without an owner, the id of the organization. */
export async function ownerOf(db: Database, organizationId: string): Promise<string> {
  const [owner] = await db
    .select({ userId: member.userId })
    .from(member)
    .where(and(eq(member.organizationId, organizationId), eq(member.role, "owner")))
    .orderBy(asc(member.createdAt), asc(member.userId))
    .limit(1);
  return owner?.userId ?? organizationId;
}
