import { and, asc, eq, gt, inArray, sql } from "drizzle-orm";
import { openStatuses } from "#lib/approvals/checkout-state.ts";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { mayApprove } from "#lib/identity/approver-store.ts";
import { member, session, user } from "#lib/identity/tables.ts";
import type { PushRow } from "#lib/push/store.ts";
import { pushDevices } from "#lib/push/tables.ts";

/** SQL condition: the device's session is live, and its owner may approve for the organization now. */
const mayShow = () => and(gt(session.expiresAt, sql`clock_timestamp()`), mayApprove());

const devices = (db: Database | Tx, organizationId: string) =>
  db
    .select({ deviceId: pushDevices.deviceId })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .innerJoin(session, eq(session.userId, user.id))
    .innerJoin(pushDevices, eq(pushDevices.sessionId, session.id))
    .where(and(eq(member.organizationId, organizationId), mayShow()));

/** The devices of the people who may approve for the organization now, the oldest first. Locked, so that none is removed meanwhile. */
export async function devicesOfApprovers(tx: Tx, organizationId: string, rows: number): Promise<readonly string[]> {
  const found = await devices(tx, organizationId)
    .orderBy(asc(pushDevices.createdAt), asc(pushDevices.deviceId))
    .limit(rows)
    .for("key share", { of: pushDevices, skipLocked: true });
  return found.map(({ deviceId }) => deviceId);
}

export async function hasDevice(organizationId: string): Promise<boolean> {
  return (await devices(database(), organizationId).limit(1)).length > 0;
}

/** The request of a message, if it still waits and the owner of the device may still decide it. */
export async function findRequestOf({ deviceId, organizationId, checkoutIntentId }: PushRow) {
  const { domain, amount, asset, tokenDecimals, expiresAt, status } = checkoutIntents;
  const [row] = await database()
    .select({ details: pushDevices.details, domain, amount, asset, tokenDecimals })
    .from(pushDevices)
    .innerJoin(session, eq(session.id, pushDevices.sessionId))
    .innerJoin(user, eq(user.id, session.userId))
    .innerJoin(member, and(eq(member.userId, user.id), eq(member.organizationId, organizationId)))
    .innerJoin(checkoutIntents, eq(checkoutIntents.checkoutIntentId, checkoutIntentId ?? ""))
    .where(
      and(
        eq(pushDevices.deviceId, deviceId),
        eq(checkoutIntents.organizationId, organizationId),
        inArray(status, [...openStatuses]),
        gt(expiresAt, sql`clock_timestamp()`),
        mayShow(),
      ),
    );
  return row ?? null;
}
