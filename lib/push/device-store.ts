import { and, desc, eq, inArray, isNotNull, isNull, ne, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { session } from "#lib/identity/tables.ts";
import { isLive } from "#lib/identity/live-store.ts";
import { pushDevices } from "#lib/push/tables.ts";

export type DeviceRow = Omit<typeof pushDevices.$inferSelect, "endpoint" | "p256dh" | "auth" | "failingSince"> & {
  readonly userAgent: string | null;
};
type NewDevice = Omit<typeof pushDevices.$inferInsert, "createdAt" | "failingSince">;

const { deviceId, sessionId, details, createdAt } = pushDevices;
const columns = { deviceId, sessionId, details, createdAt, userAgent: session.userAgent };

export const devicesOf = (db: Database | Tx, userId: string): Promise<DeviceRow[]> =>
  db
    .select(columns)
    .from(pushDevices)
    .innerJoin(session, eq(session.id, pushDevices.sessionId))
    .where(and(eq(session.userId, userId), isLive.session))
    .orderBy(desc(createdAt), desc(deviceId));

/** An endpoint moves to the session that registers it last; false if its stored keys differ. */
export async function saveDevice(tx: Tx, device: NewDevice): Promise<boolean> {
  await tx.delete(pushDevices).where(and(eq(sessionId, device.sessionId), ne(pushDevices.endpoint, device.endpoint)));
  const saved = await tx
    .insert(pushDevices)
    .values(device)
    .onConflictDoUpdate({
      target: pushDevices.endpoint,
      set: { sessionId: device.sessionId, details: device.details },
      setWhere: sql`${pushDevices.p256dh} = ${device.p256dh} AND ${pushDevices.auth} = ${device.auth}`,
    })
    .returning({ deviceId });
  return saved.length === 1;
}

export async function deleteDeviceOf(tx: Tx, userId: string, id: string): Promise<boolean> {
  const own = tx.select({ id: session.id }).from(session).where(eq(session.userId, userId));
  const gone = await tx
    .delete(pushDevices)
    .where(and(eq(deviceId, id), inArray(sessionId, own)))
    .returning({ deviceId });
  return gone.length === 1;
}

export async function noteDevice(db: Database, id: string, accepted: boolean): Promise<void> {
  const changes = accepted ? isNotNull(pushDevices.failingSince) : isNull(pushDevices.failingSince);
  await db
    .update(pushDevices)
    .set({ failingSince: accepted ? null : sql`statement_timestamp()` })
    .where(and(eq(deviceId, id), changes));
}

/** For a device that its push service no longer knows; the messages to the device are deleted too. */
export async function deleteDevice(db: Database, id: string): Promise<void> {
  await db.delete(pushDevices).where(eq(deviceId, id));
}
