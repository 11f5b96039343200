import { and, asc, eq, getTableColumns, inArray, lte, notInArray, sql } from "drizzle-orm";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { after } from "#lib/db/leases.ts";
import type { Full } from "#lib/http/fair-work.ts";
import { pushDevices, pushes } from "#lib/push/tables.ts";

export type PushRow = typeof pushes.$inferSelect;
export type NewPush = Pick<
  PushRow,
  "pushId" | "deviceId" | "causeId" | "kind" | "organizationId" | "checkoutIntentId" | "silent" | "usefulUntil"
>;
export type PushAddress = { readonly endpoint: string; readonly p256dh: string; readonly auth: string };

export async function insertPushes(tx: Tx, added: readonly NewPush[]): Promise<void> {
  if (added.length === 0) return;
  // The present time, truncated: the column would round it, perhaps up to a time at which the message is not due yet.
  const now = sql`date_trunc('milliseconds', clock_timestamp())`;
  await tx
    .insert(pushes)
    .values(added.map((one) => ({ ...one, nextAttemptAt: now })))
    .onConflictDoNothing();
}

const isDue = () => and(eq(pushes.status, "queued"), lte(pushes.nextAttemptAt, sql`(SELECT clock_timestamp())`));

export async function hasDuePush(): Promise<boolean> {
  const rows = await database().select({ pushId: pushes.pushId }).from(pushes).where(isDue()).limit(1);
  return rows.length > 0;
}

const hostOf = sql<string>`split_part(${pushDevices.endpoint}, '/', 3)`;

/**
 * The longest due message of an organization and host that are not full; messages to devices that fail come after the others.
 * If the worker dies, the message is due again after `leaseMs`.
 */
export async function leaseDuePush(leaseMs: number, { owners, hosts }: Full): Promise<(PushRow & { host: string }) | null> {
  const due = database()
    .select({ pushId: pushes.pushId })
    .from(pushes)
    .innerJoin(pushDevices, eq(pushDevices.deviceId, pushes.deviceId))
    .where(and(isDue(), notInArray(pushes.organizationId, [...owners]), notInArray(hostOf, [...hosts])))
    .orderBy(sql`${pushDevices.failingSince} IS NOT NULL`, asc(pushes.nextAttemptAt))
    .limit(1)
    .for("update", { of: pushes, skipLocked: true });
  const [push] = await database()
    .update(pushes)
    .set({ nextAttemptAt: after(leaseMs), attempts: sql`${pushes.attempts} + 1` })
    .where(eq(pushes.pushId, due))
    .returning({
      ...getTableColumns(pushes),
      host: sql<string>`(SELECT split_part(d.endpoint, '/', 3) FROM push_devices d WHERE d.device_id = pushes.device_id)`,
    });
  return push ?? null;
}

export async function addressOf(deviceId: string): Promise<PushAddress | null> {
  const { endpoint, p256dh, auth } = pushDevices;
  const [row] = await database().select({ endpoint, p256dh, auth }).from(pushDevices).where(eq(pushDevices.deviceId, deviceId));
  return row ?? null;
}

export async function endPush(pushId: string, status: "accepted" | "failed"): Promise<void> {
  await database()
    .update(pushes)
    .set({ status, nextAttemptAt: null, endedAt: sql`clock_timestamp()` })
    .where(and(eq(pushes.pushId, pushId), eq(pushes.status, "queued")));
}

export async function postponePush(pushId: string, milliseconds: number): Promise<void> {
  await database()
    .update(pushes)
    .set({ nextAttemptAt: after(milliseconds) })
    .where(and(eq(pushes.pushId, pushId), eq(pushes.status, "queued")));
}

export async function recentSounds(tx: Tx, deviceIds: readonly string[], windowMs: number): Promise<ReadonlyMap<string, number>> {
  if (deviceIds.length === 0) return new Map();
  const rows = await tx
    .select({ deviceId: pushes.deviceId, count: sql<number>`count(*)::int` })
    .from(pushes)
    .where(and(inArray(pushes.deviceId, [...deviceIds]), sql`${pushes.createdAt} > ${after(-windowMs)} AND NOT ${pushes.silent}`))
    .groupBy(pushes.deviceId);
  return new Map(rows.map(({ deviceId, count }) => [deviceId, count]));
}

export type PushFacts = {
  readonly acceptedAt: Date | null;
  readonly count: number;
  readonly waiting: number;
  readonly attempts: number;
};

/** `acceptedAt` is the time of the first accepted message; `attempts` is the lowest number among the waiting messages. */
export async function readPushes(db: Database, checkoutIntentId: string): Promise<PushFacts> {
  const [row] = await db
    .select({
      acceptedAt: sql<string | null>`min(${pushes.endedAt}) FILTER (WHERE ${pushes.status} = 'accepted')`,
      count: sql<number>`count(*)::int`,
      waiting: sql<number>`(count(*) FILTER (WHERE ${pushes.status} = 'queued'))::int`,
      attempts: sql<number>`coalesce(min(${pushes.attempts}) FILTER (WHERE ${pushes.status} = 'queued'), 0)::int`,
    })
    .from(pushes)
    .where(eq(pushes.checkoutIntentId, checkoutIntentId));
  const { acceptedAt = null, count = 0, waiting = 0, attempts = 0 } = row ?? {};
  return { acceptedAt: acceptedAt === null ? null : new Date(acceptedAt), count, waiting, attempts };
}

export async function deleteOldPushes(days: number, rows: number): Promise<number> {
  const gone = await database().execute(sql`
    DELETE FROM pushes WHERE push_id IN (
      SELECT push_id FROM pushes
      WHERE created_at < (SELECT clock_timestamp() - ${days} * interval '1 day') LIMIT ${rows})
    RETURNING push_id`);
  return gone.length;
}
