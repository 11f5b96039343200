import { and, asc, eq, gt, inArray, sql } from "drizzle-orm";
import { openStatuses } from "#lib/approvals/checkout-state.ts";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { mayApprove } from "#lib/identity/approver-store.ts";
import { isLive } from "#lib/identity/live-store.ts";
import { member, session, user } from "#lib/identity/tables.ts";
import { isQuiet } from "#lib/notices/quiet-hours.ts";
import { quietColumns, quietHoursOf } from "#lib/notices/settings-store.ts";
import { noticeSettings } from "#lib/notices/tables.ts";
import type { PushRow } from "#lib/push/store.ts";
import { pushDevices } from "#lib/push/tables.ts";

const DEVICES_MAX = 1_000;

/** SQL condition: the device's session is live, and its owner may approve for the organization now. */
const mayShow = () => and(isLive.session, mayApprove());

const devices = (db: Database | Tx, organizationId: string) =>
  db
    .select({ deviceId: pushDevices.deviceId, ...quietColumns })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .innerJoin(session, eq(session.userId, user.id))
    .innerJoin(pushDevices, eq(pushDevices.sessionId, session.id))
    .leftJoin(noticeSettings, eq(noticeSettings.userId, user.id))
    .where(and(eq(member.organizationId, organizationId), mayShow()))
    .orderBy(asc(pushDevices.createdAt), asc(pushDevices.deviceId))
    .limit(DEVICES_MAX);

/** Locks the rows, so that no device is removed before the commit; devices that are being removed are left out. */
export async function devicesOfApprovers(tx: Tx, organizationId: string, now: Date): Promise<readonly string[]> {
  const found = await devices(tx, organizationId).for("key share", { of: pushDevices, skipLocked: true });
  return found.filter((row) => !isQuiet(quietHoursOf(row), now)).map(({ deviceId }) => deviceId);
}

export async function hasDevice(organizationId: string, now: Date): Promise<boolean> {
  return (await devices(database(), organizationId)).some((row) => !isQuiet(quietHoursOf(row), now));
}

/** Null if the request no longer waits, device or session is gone, or the device's owner may not decide or has quiet hours. */
export async function findRequestOf({ deviceId, organizationId, checkoutIntentId }: PushRow) {
  const { domain, amount, asset, tokenDecimals, expiresAt, status } = checkoutIntents;
  const [row] = await database()
    .select({
      details: pushDevices.details,
      domain,
      amount,
      asset,
      tokenDecimals,
      ...quietColumns,
      now: sql<string>`clock_timestamp()`,
    })
    .from(pushDevices)
    .innerJoin(session, eq(session.id, pushDevices.sessionId))
    .innerJoin(user, eq(user.id, session.userId))
    .innerJoin(member, and(eq(member.userId, user.id), eq(member.organizationId, organizationId)))
    .leftJoin(noticeSettings, eq(noticeSettings.userId, user.id))
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
  return row && !isQuiet(quietHoursOf(row), new Date(row.now)) ? row : null;
}
