import { and, asc, count, eq, getTableColumns, or, sql, type SQL } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { capabilitiesOfRole } from "#lib/identity/capabilities.ts";
import { isLive } from "#lib/identity/live-store.ts";
import { member, user } from "#lib/identity/tables.ts";
import { auditHeads } from "#lib/audit/tables.ts";
import { MembershipRole } from "#lib/vocabulary.ts";
import { webhookEndpoints } from "#lib/webhooks/tables.ts";

export type EndpointRow = typeof webhookEndpoints.$inferSelect;
type NewEndpoint = Omit<typeof webhookEndpoints.$inferInsert, "sequence">;

const { webhookEndpointId, organizationId, createdAt } = webhookEndpoints;
const owned = (organization: string, id: string) => and(eq(webhookEndpointId, id), eq(organizationId, organization));

/** Of the organization's audit chain, the endpoint gets only the events after its present end. */
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

const lockOne = async (tx: Tx, one: SQL | undefined): Promise<EndpointRow | null> => {
  const [row] = await tx.select().from(webhookEndpoints).where(one).for("no key update");
  return row ?? null;
};

export const lockEndpoint = (tx: Tx, organization: string, id: string) => lockOne(tx, owned(organization, id));

/** For the worker, which serves all organizations. */
export const lockEndpointOfAny = (tx: Tx, id: string) => lockOne(tx, eq(webhookEndpointId, id));

export async function changeEndpoint(tx: Tx, id: string, change: Partial<EndpointRow>): Promise<EndpointRow> {
  const [row] = await tx.update(webhookEndpoints).set(change).where(eq(webhookEndpointId, id)).returning();
  return row!;
}

export async function deleteEndpoint(tx: Tx, id: string): Promise<void> {
  await tx.delete(webhookEndpoints).where(eq(webhookEndpointId, id));
}

const keyIds = (ids: readonly string[]) => sql.param([...ids]);
const keyOf = (column: AnyPgColumn) => sql`split_part(${column}, '.', 2)`;

export async function endpointsUnderKeys(ids: readonly string[], limit: number): Promise<readonly string[]> {
  const { sealed, previousSealed } = webhookEndpoints;
  const isUnder = (column: AnyPgColumn) => sql`${keyOf(column)} = ANY(${keyIds(ids)})`;
  const rows = await database()
    .select({ webhookEndpointId })
    .from(webhookEndpoints)
    .where(or(isUnder(sealed), isUnder(previousSealed)))
    .limit(limit);
  return rows.map((row) => row.webhookEndpointId);
}

/** Whether the present secrets of an enabled endpoint were encrypted with none of these keys. */
export async function hasEndpointUnderOtherKey(ids: readonly string[]): Promise<boolean> {
  const isOther = sql`${keyOf(webhookEndpoints.sealed)} <> ALL(${keyIds(ids)})`;
  const found = await database()
    .select({ webhookEndpointId })
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.status, "enabled"), isOther))
    .limit(1);
  return found.length > 0;
}

export type Target = {
  readonly url: string;
  readonly sealed: string;
  /** The encrypted secrets before the last rotation, while they sign messages too; otherwise null. */
  readonly previous: string | null;
  /** The time that is signed in the messages, in seconds since 1970. */
  readonly timestamp: number;
};

export type LockedEndpoint = EndpointRow & {
  readonly target: Target;
  readonly nowMs: number;
  /** The number of pending deliveries, counted up to `openMax`. */
  readonly open: number;
  readonly isDue: boolean;
};

/**
 * Null if the endpoint is not enabled or another transaction has locked it. The commit does not wait for the disk:
 * after a crash of the database server, the newest messages may be sent again.
 */
export async function lockEnabled(tx: Tx, id: string, openMax: number): Promise<LockedEndpoint | null> {
  const pending = sql`FROM webhook_deliveries d WHERE d.webhook_endpoint_id = ${id} AND d.status = 'pending'`;
  const [row] = await tx
    .select({
      ...getTableColumns(webhookEndpoints),
      nowMs: sql<number>`(extract(epoch FROM clock_timestamp()) * 1000)::float8`,
      open: sql<number>`(SELECT count(*)::int FROM (SELECT ${pending} LIMIT ${openMax}) AS open)`,
      isDue: sql<boolean>`EXISTS (SELECT ${pending} AND d.next_attempt_at <= (SELECT clock_timestamp()))`,
      synchronous: sql`set_config('synchronous_commit', 'off', true)`,
    })
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpointId, id), eq(webhookEndpoints.status, "enabled")))
    .for("no key update", { skipLocked: true });
  if (!row) return null;
  const { url, sealed, previousSealed, previousUntil, nowMs } = row;
  const isGrace = previousUntil !== null && previousUntil.getTime() > nowMs;
  return { ...row, target: { url, sealed, previous: isGrace ? previousSealed : null, timestamp: Math.floor(nowMs / 1_000) } };
}

/** With `sequence` null, the cursor stays. */
export async function moveEndpoint(
  tx: Tx,
  id: string,
  { sequence, succeeded }: { readonly sequence: number | null; readonly succeeded: boolean },
): Promise<void> {
  const now = sql`statement_timestamp()`;
  await tx
    .update(webhookEndpoints)
    .set({
      ...(sequence !== null && { sequence }),
      ...(succeeded && { failingSince: null, lastSuccessAt: now, lastAttemptAt: now }),
    })
    .where(eq(webhookEndpointId, id));
}

const roles = MembershipRole.options.filter((role) => capabilitiesOfRole(role).has("webhooks:manage"));
const PEOPLE_MAX = 100;

/** People who may manage webhooks and are not banned, at most PEOPLE_MAX. */
export const managersOf = (tx: Tx, organization: string) =>
  tx
    .select({ email: user.email, emailVerified: user.emailVerified })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(and(eq(member.organizationId, organization), sql`${member.role} IN ${roles}`, isLive.person))
    .orderBy(asc(member.createdAt), asc(member.id))
    .limit(PEOPLE_MAX);
