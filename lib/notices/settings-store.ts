import { eq, sql, type SQL } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Database, Tx } from "#lib/db/client.ts";
import type { NoticeSettings } from "#lib/notices/contract.ts";
import type { QuietHours } from "#lib/notices/quiet-hours.ts";
import { noticeSettings } from "#lib/notices/tables.ts";

export const wantsMail = (userId: AnyPgColumn): SQL =>
  sql`NOT EXISTS (SELECT FROM ${noticeSettings} s WHERE s.user_id = ${userId} AND NOT s.mail)`;

/** The columns of the quiet hours, for a query that left-joins the settings. */
export const quietColumns = {
  quietFrom: noticeSettings.quietFrom,
  quietTo: noticeSettings.quietTo,
  timezone: noticeSettings.timezone,
};
type QuietColumns = { readonly quietFrom: string | null; readonly quietTo: string | null; readonly timezone: string | null };

export const quietHoursOf = ({ quietFrom, quietTo, timezone }: QuietColumns): QuietHours | null =>
  quietFrom === null || quietTo === null || timezone === null ? null : { from: quietFrom, to: quietTo, timezone };

export async function readSettings(db: Database | Tx, userId: string): Promise<NoticeSettings> {
  const [row] = await db
    .select({ mail: noticeSettings.mail, ...quietColumns })
    .from(noticeSettings)
    .where(eq(noticeSettings.userId, userId));
  return { mail: row?.mail ?? true, quietHours: row ? quietHoursOf(row) : null };
}

/** Call lockPerson before, so that two changes do not overwrite each other. */
export async function saveNoticeSettings(tx: Tx, userId: string, { mail, quietHours }: NoticeSettings): Promise<void> {
  const { from: quietFrom = null, to: quietTo = null, timezone = null } = quietHours ?? {};
  const set = { mail, quietFrom, quietTo, timezone };
  await tx
    .insert(noticeSettings)
    .values({ userId, ...set })
    .onConflictDoUpdate({ target: noticeSettings.userId, set });
}
