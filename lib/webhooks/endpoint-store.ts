import { and, asc, count, eq, sql } from "drizzle-orm";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { capabilitiesOfRole } from "#lib/identity/capabilities.ts";
import { member, user } from "#lib/identity/tables.ts";
import { auditHeads } from "#lib/audit/tables.ts";
import { MembershipRole } from "#lib/vocabulary.ts";
import { webhookEndpoints } from "#lib/webhooks/tables.ts";

export type EndpointRow = typeof webhookEndpoints.$inferSelect;
type NewEndpoint = Omit<typeof webhookEndpoints.$inferInsert, "sequence">;

const { webhookEndpointId, organizationId, createdAt } = webhookEndpoints;
const owned = (organization: string, id: string) => and(eq(webhookEndpointId, id), eq(organizationId, organization));

/** Stores an endpoint. It gets only events that are written after this one. */
export async function insertEndpoint(tx: Tx, row: NewEndpoint): Promise<EndpointRow> {
  const head = tx.select({ sequence: auditHeads.sequence }).from(auditHeads).where(eq(auditHeads.chain, row.organizationId));
  const [inserted] = await tx
    .insert(webhookEndpoints)
    .values({ ...row, sequence: sql`coalesce((${head}), 0)` })
    .returning();
  return inserted!;
}

export const listEndpoints = (organization: string): Promise<EndpointRow[]> =>
  database()
    .select()
    .from(webhookEndpoints)
    .where(eq(organizationId, organization))
    .orderBy(asc(createdAt), asc(webhookEndpointId));

export async function countEndpoints(tx: Tx, organization: string): Promise<number> {
  const [row] = await tx.select({ count: count() }).from(webhookEndpoints).where(eq(organizationId, organization));
  return row?.count ?? 0;
}

export async function findEndpoint(db: Database, organization: string, id: string): Promise<EndpointRow | null> {
  const [row] = await db.select().from(webhookEndpoints).where(owned(organization, id));
  return row ?? null;
}

/** Locks an endpoint of the organization. Null if there is none with this id. */
export async function lockEndpoint(tx: Tx, organization: string, id: string): Promise<EndpointRow | null> {
  const [row] = await tx.select().from(webhookEndpoints).where(owned(organization, id)).for("no key update");
  return row ?? null;
}

export async function changeEndpoint(tx: Tx, id: string, change: Partial<EndpointRow>): Promise<EndpointRow> {
  const [row] = await tx.update(webhookEndpoints).set(change).where(eq(webhookEndpointId, id)).returning();
  return row!;
}

export async function deleteEndpoint(tx: Tx, id: string): Promise<void> {
  await tx.delete(webhookEndpoints).where(eq(webhookEndpointId, id));
}

/** Locks an enabled endpoint for the worker; null if the endpoint is not enabled, or another transaction has locked it. */
export async function lockEnabled(tx: Tx, id: string): Promise<EndpointRow | null> {
  const [row] = await tx
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpointId, id), eq(webhookEndpoints.status, "enabled")))
    .for("no key update", { skipLocked: true });
  return row ?? null;
}

/** The address and the secrets for a message, read right before it is sent. Null if the endpoint is no longer enabled. */
export async function targetOf(id: string) {
  const { url, sealed, previousSealed, previousUntil, status } = webhookEndpoints;
  const [row] = await database()
    .select({
      url,
      sealed,
      previous: sql<string | null>`CASE WHEN ${previousUntil} > clock_timestamp() THEN ${previousSealed} END`,
      timestamp: sql<number>`floor(extract(epoch FROM clock_timestamp()))::int`,
    })
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpointId, id), eq(status, "enabled")));
  return row ?? null;
}

/**
 * Stores that a message was delivered. It writes only if an earlier attempt failed or the stored success is ten seconds old, so
 * that fast deliveries do not wait for the row's lock.
 */
export async function noteSuccess(id: string): Promise<void> {
  const { failingSince, lastSuccessAt } = webhookEndpoints;
  const now = sql`clock_timestamp()`;
  await database()
    .update(webhookEndpoints)
    .set({ failingSince: null, lastSuccessAt: now, lastAttemptAt: now })
    .where(
      and(
        eq(webhookEndpointId, id),
        sql`(${failingSince} IS NOT NULL OR ${lastSuccessAt} IS NULL OR ${lastSuccessAt} < clock_timestamp() - interval '10 seconds')`,
      ),
    );
}

const roles = MembershipRole.options.filter((role) => capabilitiesOfRole(role).has("webhooks:manage"));
const PEOPLE_MAX = 100;

/** The people who manage webhooks of the organization. */
export const managersOf = (tx: Tx, organization: string) =>
  tx
    .select({ email: user.email, emailVerified: user.emailVerified })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(
      and(
        eq(member.organizationId, organization),
        sql`${member.role} IN ${roles}`,
        sql`NOT (${user.banned} AND (${user.banExpires} IS NULL OR ${user.banExpires} > clock_timestamp()))`,
      ),
    )
    .orderBy(asc(member.createdAt), asc(member.id))
    .limit(PEOPLE_MAX);
