import { and, asc, desc, eq, ne, sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import type { SessionFacts } from "#lib/identity/sessions/present-session.ts";
import { isLive } from "#lib/identity/live-store.ts";
import { oauthAccessToken, oauthClient, oauthRefreshToken } from "#lib/identity/oauth-tables.ts";
import { member, organization, session, user, verification } from "#lib/identity/tables.ts";

/** Null if the session was deleted after the request was authenticated. */
export async function readSession(
  sessionId: string,
  tx: Tx | ReturnType<typeof database> = database(),
): Promise<SessionFacts | null> {
  const [found] = await tx
    .select({
      provider: session.provider,
      activeOrganizationId: session.activeOrganizationId,
      user: {
        userId: user.id,
        email: user.email,
        name: user.name,
        image: user.image,
        emailVerified: user.emailVerified,
        platformRoles: user.platformRoles,
      },
    })
    .from(session)
    .innerJoin(user, eq(user.id, session.userId))
    .where(eq(session.id, sessionId));
  if (!found) return null;
  const memberships = await tx
    .select({
      organizationId: organization.id,
      name: organization.name,
      slug: organization.slug,
      role: member.role,
      productRoles: organization.productRoles,
      // The value changes with the picture and is part of the picture's URL, so that browsers can cache the picture.
      logoVersion: sql<
        string | null
      >`CASE WHEN ${organization.id} = ${found.activeOrganizationId} THEN left(md5(${organization.logo}), 12) END`,
    })
    .from(member)
    .innerJoin(organization, eq(organization.id, member.organizationId))
    .where(eq(member.userId, found.user.userId))
    .orderBy(asc(member.createdAt), asc(member.id));
  return { ...found, memberships };
}

export async function setActiveOrganization(tx: Tx, sessionId: string, organizationId: string): Promise<void> {
  await tx.update(session).set({ activeOrganizationId: organizationId }).where(eq(session.id, sessionId));
}

export const endingTables = [session, verification, oauthAccessToken, oauthRefreshToken, oauthClient] as const;

/** Returns false if the person has no such session or it has expired. */
export async function deleteSession(tx: Tx, userId: string, sessionId: string): Promise<boolean> {
  const rows = await tx
    .delete(session)
    .where(and(eq(session.id, sessionId), eq(session.userId, userId), isLive.session))
    .returning({ id: session.id });
  return rows.length === 1;
}

export async function deleteOtherSessions(tx: Tx, userId: string, sessionId: string): Promise<number> {
  const rows = await tx
    .delete(session)
    .where(and(eq(session.userId, userId), ne(session.id, sessionId)))
    .returning({ id: session.id });
  return rows.length;
}

export const liveSessionsOf = (userId: string, limit: number) =>
  database()
    .select({
      sessionId: session.id,
      provider: session.provider,
      userAgent: session.userAgent,
      ipAddress: session.ipAddress,
      createdAt: session.createdAt,
      updatedAt: session.updatedAt,
      provedAt: session.provedAt,
    })
    .from(session)
    .where(and(eq(session.userId, userId), isLive.session))
    .orderBy(desc(session.updatedAt), desc(session.id))
    .limit(limit);

/** Whether the account with this email address has a session that began at this network address and has not expired. */
export async function hasSessionFrom(email: string, address: string): Promise<boolean> {
  const rows = await database()
    .select({ id: session.id })
    .from(session)
    .innerJoin(user, eq(user.id, session.userId))
    .where(and(eq(user.email, email), eq(session.ipAddress, address), isLive.session))
    .limit(1);
  return rows.length > 0;
}
