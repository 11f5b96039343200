import { and, eq, inArray, sql } from "drizzle-orm";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { deleteOld } from "#lib/db/delete-old.ts";
import { after } from "#lib/db/leases.ts";
import type { Outbox, Receivers } from "#lib/outbox/store.ts";
import { pushDevices, pushes } from "#lib/push/tables.ts";
import { minutes } from "#lib/time.ts";

export type PushRow = typeof pushes.$inferSelect;
export type NewPush = Pick<
  PushRow,
  "pushId" | "deviceId" | "causeId" | "kind" | "organizationId" | "checkoutIntentId" | "silent" | "usefulUntil"
>;
export type PushAddress = { readonly endpoint: string; readonly p256dh: string; readonly auth: string };

export const pushbox: Outbox<typeof pushes> = {
  table: pushes,
  id: pushes.pushId,
  due: "nextAttemptAt",
  waiting: "queued",
  longest: minutes(2),
};

/** Messages to devices that fail come after the others. */
export const devices: Receivers = {
  owner: pushes.organizationId,
  host: sql<string>`split_part(${pushDevices.endpoint}, '/', 3)`,
  through: { table: pushDevices, on: eq(pushDevices.deviceId, pushes.deviceId) },
  isLast: sql`${pushDevices.failingSince} IS NOT NULL`,
};

export async function insertPushes(tx: Tx, added: readonly NewPush[]): Promise<void> {
  if (added.length === 0) return;
  // The present time, truncated: the column would round it, perhaps up to a time at which the message is not due yet.
  const now = sql`date_trunc('milliseconds', clock_timestamp())`;
  await tx
    .insert(pushes)
    .values(added.map((one) => ({ ...one, nextAttemptAt: now })))
    .onConflictDoNothing();
}

export async function pushAddressOf(deviceId: string): Promise<PushAddress | null> {
  const { endpoint, p256dh, auth } = pushDevices;
  const [row] = await database().select({ endpoint, p256dh, auth }).from(pushDevices).where(eq(pushDevices.deviceId, deviceId));
  return row ?? null;
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

const KEPT_DAYS = 30;

/** Also messages that were never sent, because the service has no VAPID keys any more. */
export const forgetOldPushes = (): Promise<number> => deleteOld(pushes.createdAt, KEPT_DAYS);
