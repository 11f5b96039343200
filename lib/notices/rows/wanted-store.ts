import { and, eq, inArray, sql } from "drizzle-orm";
import { openStatuses } from "#lib/approvals/checkout-state.ts";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { mayApprove } from "#lib/identity/approver-store.ts";
import { member, user } from "#lib/identity/tables.ts";
import { wantsMail } from "#lib/notices/settings-store.ts";
import { noticeDeliveries, notices } from "#lib/notices/tables.ts";

/** Null for a mail that is not about requests; true if the recipient may still decide at least one of them and wants mail. */
export async function findStillWanted(mailId: string): Promise<boolean | null> {
  const isOpen = and(
    inArray(checkoutIntents.status, [...openStatuses]),
    sql`${checkoutIntents.expiresAt} > clock_timestamp()`,
    mayApprove(),
    wantsMail(user.id),
  );
  const [row] = await database()
    .select({ wanted: sql<boolean>`coalesce(bool_or(${isOpen}), false)` })
    .from(noticeDeliveries)
    .innerJoin(notices, and(eq(notices.auditEventId, noticeDeliveries.auditEventId), eq(notices.kind, noticeDeliveries.kind)))
    .leftJoin(checkoutIntents, eq(checkoutIntents.checkoutIntentId, notices.checkoutIntentId))
    .leftJoin(member, and(eq(member.organizationId, notices.organizationId), eq(member.userId, noticeDeliveries.recipientId)))
    .leftJoin(user, eq(user.id, member.userId))
    .where(eq(noticeDeliveries.mailId, mailId))
    .groupBy(noticeDeliveries.mailId);
  return row?.wanted ?? null;
}
