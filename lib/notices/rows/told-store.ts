import { and, eq, inArray, sql } from "drizzle-orm";
import type { Database } from "#lib/db/client.ts";
import { mails } from "#lib/mail/tables.ts";
import { noticeDeliveries, notices } from "#lib/notices/tables.ts";

export type DeliveryFacts = {
  /** When the mail server first accepted a mail about the request. */
  readonly acceptedAt: Date | null;
  readonly mails: number;
  /** Whether none of the notices was delivered, so that at least one failed. */
  readonly failed: boolean;
  /** The number of deliveries whose mail is still queued. */
  readonly waiting: number;
  /** The lowest number of attempts among the queued mails; 0 if there are none. */
  readonly attempts: number;
};

/** The mails about a request for approval; null while none of its notices was delivered or has failed. */
export async function readToldFacts(db: Database, checkoutIntentId: string): Promise<DeliveryFacts | null> {
  const [row] = await db
    .select({
      acceptedAt: sql<string | null>`min(${mails.endedAt}) FILTER (WHERE ${mails.status} = 'sent')`,
      mails: sql<number>`count(${noticeDeliveries.mailId})::int`,
      waiting: sql<number>`(count(*) FILTER (WHERE ${mails.status} = 'queued'))::int`,
      attempts: sql<number>`coalesce(min(${mails.attempts}) FILTER (WHERE ${mails.status} = 'queued'), 0)::int`,
      notices: sql<number>`count(*)::int`,
      delivered: sql<number>`(count(*) FILTER (WHERE ${notices.status} = 'delivered'))::int`,
    })
    .from(notices)
    .leftJoin(
      noticeDeliveries,
      and(eq(noticeDeliveries.auditEventId, notices.auditEventId), eq(noticeDeliveries.kind, notices.kind)),
    )
    .leftJoin(mails, eq(mails.mailId, noticeDeliveries.mailId))
    .where(and(eq(notices.checkoutIntentId, checkoutIntentId), inArray(notices.status, ["delivered", "failed"])));
  if (!row || row.notices === 0) return null;
  const { acceptedAt, waiting, attempts } = row;
  return {
    acceptedAt: acceptedAt === null ? null : new Date(acceptedAt),
    mails: row.mails,
    failed: row.delivered === 0,
    waiting,
    attempts,
  };
}
