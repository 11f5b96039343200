import { and, asc, count, desc, eq, inArray, isNotNull, isNull, like, lt, max, or, sql } from "drizzle-orm";
import { subscriptions } from "#lib/billing/tables.ts";
import { database } from "#lib/db/client.ts";
import { member, organization, session, user } from "#lib/identity/tables.ts";
import { isLive } from "#lib/identity/live-store.ts";
import { startsWith } from "#lib/db/like.ts";
import { resources, sellers } from "#lib/sellers/tables.ts";
import type { Environment } from "#lib/vocabulary.ts";

/* Queries over all organizations. Only the pages of the platform's administration may use them. */

/** `seenAt` is the last use of a valid session, accurate to an hour. */
export const countSessions = (userIds: readonly string[]) =>
  database()
    .select({ userId: session.userId, count: count(), seenAt: max(session.updatedAt) })
    .from(session)
    .where(and(inArray(session.userId, [...userIds]), isLive.session))
    .groupBy(session.userId);

export const selectMemberships = (userIds: readonly string[]) =>
  database()
    .select({ userId: member.userId, organizationId: organization.id, name: organization.name, role: member.role })
    .from(member)
    .innerJoin(organization, eq(organization.id, member.organizationId))
    .where(inArray(member.userId, [...userIds]))
    .orderBy(asc(member.createdAt), asc(member.id));

export const selectSessions = (userId: string, rows: number) =>
  database()
    .select({
      sessionId: session.id,
      provider: session.provider,
      userAgent: session.userAgent,
      createdAt: session.createdAt,
      updatedAt: session.updatedAt,
    })
    .from(session)
    .where(and(eq(session.userId, userId), isLive.session))
    .orderBy(desc(session.createdAt))
    .limit(rows);

export const selectOrganizations = (search: string | undefined, place: string | null, rows: number) =>
  database()
    .select({
      organizationId: organization.id,
      name: organization.name,
      slug: organization.slug,
      productRoles: organization.productRoles,
      createdAt: organization.createdAt,
      tier: subscriptions.tier,
    })
    .from(organization)
    .leftJoin(subscriptions, eq(subscriptions.organizationId, organization.id))
    .where(
      and(
        search === undefined
          ? undefined
          : or(
              eq(organization.id, search),
              like(sql`lower(${organization.name})`, startsWith(search)),
              like(organization.slug, startsWith(search)),
            ),
        place === null ? undefined : lt(organization.id, place),
      ),
    )
    .orderBy(desc(organization.id))
    .limit(rows);

export const countMembers = (organizationIds: readonly string[]) =>
  database()
    .select({ organizationId: member.organizationId, count: count() })
    .from(member)
    .where(inArray(member.organizationId, [...organizationIds]))
    .groupBy(member.organizationId);

export type SellerState = "unverified" | "verified" | "stopped";

const stateOf = {
  unverified: and(eq(sellers.verified, false), isNull(sellers.stoppedAt)),
  verified: and(sellers.verified, isNull(sellers.stoppedAt)),
  stopped: isNotNull(sellers.stoppedAt),
} as const;

export const selectSellers = (environment: Environment, state: SellerState, place: string | null, rows: number) =>
  database()
    .select({
      sellerId: sellers.sellerId,
      name: sellers.name,
      domain: sellers.domain,
      verified: sellers.verified,
      stoppedAt: sellers.stoppedAt,
      createdAt: sellers.createdAt,
      organizationId: sellers.organizationId,
      organizationName: organization.name,
    })
    .from(sellers)
    .innerJoin(organization, eq(organization.id, sellers.organizationId))
    .where(and(eq(sellers.environment, environment), stateOf[state], place === null ? undefined : lt(sellers.sellerId, place)))
    .orderBy(desc(sellers.sellerId))
    .limit(rows);

export const countResources = (sellerIds: readonly string[]) =>
  database()
    .select({ sellerId: resources.sellerId, count: count() })
    .from(resources)
    .where(and(inArray(resources.sellerId, [...sellerIds]), isNull(resources.archivedAt)))
    .groupBy(resources.sellerId);

/** Counts at most `most` sellers, because counting all is slow. */
export async function countUnverified(environment: Environment, most: number): Promise<number> {
  const few = database()
    .select({ sellerId: sellers.sellerId })
    .from(sellers)
    .where(and(eq(sellers.environment, environment), stateOf.unverified))
    .limit(most)
    .as("few");
  const [row] = await database().select({ count: count() }).from(few);
  return row?.count ?? 0;
}

export const selectSubscriptions = (place: string | null, rows: number) =>
  database()
    .select({
      organizationId: subscriptions.organizationId,
      organizationName: organization.name,
      planId: subscriptions.planId,
      tier: subscriptions.tier,
      status: subscriptions.status,
      currentPeriodStart: subscriptions.currentPeriodStart,
      currentPeriodEnd: subscriptions.currentPeriodEnd,
    })
    .from(subscriptions)
    .innerJoin(organization, eq(organization.id, subscriptions.organizationId))
    .where(place === null ? undefined : lt(subscriptions.organizationId, place))
    .orderBy(desc(subscriptions.organizationId))
    .limit(rows);

export async function namesOf(userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (userIds.length === 0) return new Map();
  const rows = await database()
    .select({ id: user.id, name: user.name })
    .from(user)
    .where(inArray(user.id, [...userIds]));
  return new Map(rows.map(({ id, name }) => [id, name]));
}
