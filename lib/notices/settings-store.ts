import { eq, ne, sql, type SQL } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Database, Tx } from "#lib/db/client.ts";
import { noticeSettings } from "#lib/notices/tables.ts";

/** SQL condition: the person has not switched off mail about requests. */
export const wantsMail = (userId: AnyPgColumn): SQL =>
  sql`NOT EXISTS (SELECT FROM ${noticeSettings} s WHERE s.user_id = ${userId} AND NOT s.mail)`;

/** People get mail until they switch it off. */
export async function readSettings(db: Database | Tx, userId: string): Promise<{ readonly mail: boolean }> {
  const [row] = await db.select({ mail: noticeSettings.mail }).from(noticeSettings).where(eq(noticeSettings.userId, userId));
  return row ?? { mail: true };
}

/** The caller must have locked the person. */
export async function saveSettings(tx: Tx, userId: string, mail: boolean): Promise<void> {
  await tx
    .insert(noticeSettings)
    .values({ userId, mail })
    .onConflictDoUpdate({ target: noticeSettings.userId, set: { mail }, setWhere: ne(noticeSettings.mail, mail) });
}
