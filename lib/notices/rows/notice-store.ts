import { and, asc, eq, inArray, lte, sql } from "drizzle-orm";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { selectApprovers, type Approver } from "#lib/identity/approver-store.ts";
import { organization, user } from "#lib/identity/tables.ts";
import type { PlannedNotice } from "#lib/notices/plan-notices.ts";
import { wantsMail } from "#lib/notices/settings-store.ts";
import { noticeDeliveries, notices } from "#lib/notices/tables.ts";

export async function insertNotices(tx: Tx, planned: readonly PlannedNotice[]): Promise<void> {
  if (planned.length > 0)
    await tx
      .insert(notices)
      .values([...planned])
      .onConflictDoNothing();
}

const isDue = () => and(eq(notices.status, "waiting"), lte(notices.dueAt, sql`(SELECT clock_timestamp())`));

export async function hasDueNotice(): Promise<boolean> {
  const rows = await database().select({ kind: notices.kind }).from(notices).where(isDue()).limit(1);
  return rows.length > 0;
}

/** Leaves out notices that another transaction is delivering. */
export const lockDueNotices = (tx: Tx, rows: number, checkoutIntentId?: string): Promise<PlannedNotice[]> =>
  tx
    .select()
    .from(notices)
    .where(and(isDue(), checkoutIntentId === undefined ? undefined : eq(notices.checkoutIntentId, checkoutIntentId)))
    .orderBy(asc(notices.dueAt))
    .limit(rows)
    .for("update", { skipLocked: true });

export async function requestsWithDueNotices(rows: number): Promise<readonly string[]> {
  const found = await database()
    .select({ checkoutIntentId: notices.checkoutIntentId })
    .from(notices)
    .where(isDue())
    .groupBy(notices.checkoutIntentId)
    .orderBy(asc(sql`min(${notices.dueAt})`))
    .limit(rows);
  return found.map(({ checkoutIntentId }) => checkoutIntentId);
}

const ATTEMPTS_MAX = 5;

export async function postponeNotices(checkoutIntentId: string): Promise<void> {
  const isLast = sql`${notices.attempts} + 1 >= ${ATTEMPTS_MAX}`;
  await database()
    .update(notices)
    .set({
      attempts: sql`${notices.attempts} + 1`,
      dueAt: sql`clock_timestamp() + power(2, ${notices.attempts} + 1) * interval '1 second'`,
      status: sql`CASE WHEN ${isLast} THEN 'failed' ELSE 'waiting' END`,
      endedAt: sql`CASE WHEN ${isLast} THEN clock_timestamp() END`,
    })
    .where(and(isDue(), eq(notices.checkoutIntentId, checkoutIntentId)));
}

export type RequestRow = { readonly checkout: CheckoutRow; readonly organization: string | null };

export async function selectRequests(tx: Tx, due: readonly PlannedNotice[]): Promise<ReadonlyMap<string, RequestRow>> {
  const ids = [...new Set(due.map(({ checkoutIntentId }) => checkoutIntentId))];
  const rows = await tx
    .select({ checkout: checkoutIntents, organization: organization.name })
    .from(checkoutIntents)
    .leftJoin(organization, eq(organization.id, checkoutIntents.organizationId))
    .where(inArray(checkoutIntents.checkoutIntentId, ids));
  return new Map(rows.map((row) => [row.checkout.checkoutIntentId, row]));
}

export const selectReaders = (tx: Tx, organizationId: string, rows: number): Promise<readonly Approver[]> =>
  selectApprovers(tx, organizationId, wantsMail(user.id), rows);

export async function endNotices(
  tx: Tx,
  ended: readonly PlannedNotice[],
  status: "delivered" | "dropped" | "failed",
): Promise<void> {
  for (const { auditEventId, kind } of ended)
    await tx
      .update(notices)
      .set({ status, endedAt: sql`clock_timestamp()` })
      .where(and(eq(notices.auditEventId, auditEventId), eq(notices.kind, kind)));
}

/** For a request that got more time after the notice was planned. */
export async function postponeNotice(tx: Tx, { auditEventId, kind }: PlannedNotice, dueAt: Date): Promise<void> {
  await tx
    .update(notices)
    .set({ dueAt })
    .where(and(eq(notices.auditEventId, auditEventId), eq(notices.kind, kind)));
}

type Delivery = Omit<typeof noticeDeliveries.$inferInsert, "createdAt">;

/** Returns the mail ids of the deliveries that this call stored. A delivery that was stored before stays unchanged. */
export async function insertDeliveries(tx: Tx, deliveries: readonly Delivery[]): Promise<ReadonlySet<string>> {
  if (deliveries.length === 0) return new Set();
  const inserted = await tx
    .insert(noticeDeliveries)
    .values([...deliveries])
    .onConflictDoNothing()
    .returning({ mailId: noticeDeliveries.mailId });
  return new Set(inserted.map(({ mailId }) => mailId));
}

export async function deleteOldNotices(days: number, rows: number): Promise<number> {
  const gone = await database().execute(sql`
    DELETE FROM notices WHERE (audit_event_id, kind) IN (
      SELECT audit_event_id, kind FROM notices
      WHERE ended_at < (SELECT clock_timestamp() - ${days} * interval '1 day') AND status <> 'waiting' LIMIT ${rows})
    RETURNING audit_event_id`);
  return gone.length;
}
