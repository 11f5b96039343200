import { and, asc, eq, isNotNull, isNull, or, sql, type SQL } from "drizzle-orm";
import { alerts } from "#lib/alerts/tables.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { mayApprove } from "#lib/identity/approver-store.ts";
import { member, session, user } from "#lib/identity/tables.ts";
import { isLive } from "#lib/identity/live-store.ts";
import { isQuiet } from "#lib/notices/quiet-hours.ts";
import { quietColumns, quietHoursOf, wantsMail } from "#lib/notices/settings-store.ts";
import { noticeSettings } from "#lib/notices/tables.ts";
import { pushDevices } from "#lib/push/tables.ts";

const PEOPLE_MAX = 1_000;

const isApprover = () => and(isNotNull(member.id), mayApprove());
const isAdmin = () => and(sql`'admin' = ANY(${user.platformRoles})`, isLive.person);

/** SQL condition: the person may approve for the organization or, for an alert without an organization, is an administrator. */
const isTold = (organizationId: string | null): SQL | undefined => (organizationId === null ? isAdmin() : isApprover());

const memberOf = (organizationId: string | null) =>
  and(eq(member.userId, user.id), eq(member.organizationId, organizationId ?? ""));

export const selectAlertReaders = (tx: Tx, organizationId: string | null) =>
  tx
    .select({ email: user.email, emailVerified: user.emailVerified })
    .from(user)
    .leftJoin(member, memberOf(organizationId))
    .where(and(isTold(organizationId), wantsMail(user.id)))
    .orderBy(asc(user.id))
    .limit(PEOPLE_MAX);

/** Locks the rows, so that no device is removed before its message is stored; skips devices that another transaction locked. */
export async function selectDevices(tx: Tx, organizationId: string | null, now: Date): Promise<readonly string[]> {
  const rows = await tx
    .select({ deviceId: pushDevices.deviceId, ...quietColumns })
    .from(pushDevices)
    .innerJoin(session, eq(session.id, pushDevices.sessionId))
    .innerJoin(user, eq(user.id, session.userId))
    .leftJoin(member, memberOf(organizationId))
    .leftJoin(noticeSettings, eq(noticeSettings.userId, user.id))
    .where(and(isTold(organizationId), isLive.session))
    .orderBy(asc(pushDevices.deviceId))
    .limit(PEOPLE_MAX)
    .for("key share", { of: pushDevices, skipLocked: true });
  return rows.filter((row) => !isQuiet(quietHoursOf(row), now)).map(({ deviceId }) => deviceId);
}

/** Null if device or alert is gone, the session has ended, or the device's owner is no recipient or has quiet hours now. */
export async function findAlertFor(deviceId: string, alertId: string) {
  const [row] = await database()
    .select({
      facts: alerts.facts,
      threshold: alerts.threshold,
      details: pushDevices.details,
      ...quietColumns,
      now: sql<string>`clock_timestamp()`,
    })
    .from(pushDevices)
    .innerJoin(session, eq(session.id, pushDevices.sessionId))
    .innerJoin(user, eq(user.id, session.userId))
    .innerJoin(alerts, eq(alerts.alertId, alertId))
    .leftJoin(member, and(eq(member.userId, user.id), eq(member.organizationId, alerts.organizationId)))
    .leftJoin(noticeSettings, eq(noticeSettings.userId, user.id))
    .where(
      and(
        eq(pushDevices.deviceId, deviceId),
        isLive.session,
        or(and(isNotNull(alerts.organizationId), isApprover()), and(isNull(alerts.organizationId), isAdmin())),
      ),
    );
  return row && !isQuiet(quietHoursOf(row), new Date(row.now)) ? row : null;
}
