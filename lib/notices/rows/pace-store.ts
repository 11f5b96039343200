import { and, desc, eq, inArray, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import { mails } from "#lib/mail/tables.ts";
import { WINDOW_MS, type Digest, type Recent } from "#lib/notices/pace.ts";
import { noticeDeliveries, notices } from "#lib/notices/tables.ts";

const { recipientId, mailId, digest } = noticeDeliveries;

/** A sandbox without SMTP never sends a digest, so a digest stays open there for five minutes, until the next one is due. */
const isOpen = sql<boolean>`(${mails.status} = 'queued' OR (${mails.status} = 'kept' AND ${mails.createdAt} > clock_timestamp() - interval '5 minutes'))`;

/** The mails about requests that were written to each person in the last ten minutes. Who got none has no entry. */
export async function recentOf(tx: Tx, organizationId: string, people: readonly string[]): Promise<ReadonlyMap<string, Recent>> {
  const ofNotice = and(eq(notices.auditEventId, noticeDeliveries.auditEventId), eq(notices.kind, noticeDeliveries.kind));
  const lately = and(
    inArray(recipientId, [...people]),
    eq(notices.organizationId, organizationId),
    sql`${noticeDeliveries.createdAt} > clock_timestamp() - ${WINDOW_MS} * interval '1 millisecond'`,
  );
  const counts = await tx
    .select({ recipientId, singles: sql<number>`(count(*) FILTER (WHERE NOT ${digest}))::int` })
    .from(noticeDeliveries)
    .innerJoin(notices, ofNotice)
    .where(lately)
    .groupBy(recipientId);
  const digests = await tx
    .selectDistinctOn([recipientId], {
      recipientId,
      mailId,
      isOpen,
      at: sql<string>`coalesce(${mails.endedAt}, ${mails.nextAttemptAt})`,
    })
    .from(noticeDeliveries)
    .innerJoin(notices, ofNotice)
    .innerJoin(mails, eq(mails.mailId, mailId))
    .where(and(lately, digest))
    .orderBy(recipientId, desc(mailId));
  const newest = new Map<string, Digest>(digests.map((row) => [row.recipientId, { ...row, at: new Date(row.at) }]));
  return new Map(counts.map((row) => [row.recipientId, { singles: row.singles, digest: newest.get(row.recipientId) ?? null }]));
}
