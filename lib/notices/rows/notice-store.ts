import { and, eq, inArray } from "drizzle-orm";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import type { Tx } from "#lib/db/client.ts";
import { selectApprovers, type Approver } from "#lib/identity/approver-store.ts";
import { organization, user } from "#lib/identity/tables.ts";
import type { OpeningEvent, PlannedNotice, Request } from "#lib/notices/plan-notices.ts";
import { noticeBox } from "#lib/notices/outbox-store.ts";
import { wantsMail } from "#lib/notices/settings-store.ts";
import { noticeDeliveries, notices } from "#lib/notices/tables.ts";
import { end, postpone } from "#lib/outbox/store.ts";

export async function insertNotices(tx: Tx, planned: readonly PlannedNotice[]): Promise<void> {
  if (planned.length > 0)
    await tx
      .insert(notices)
      .values([...planned])
      .onConflictDoNothing();
}

const one = ({ auditEventId, kind }: PlannedNotice) => and(eq(notices.auditEventId, auditEventId), eq(notices.kind, kind));

export async function requestsOf(tx: Tx, events: readonly OpeningEvent[]): Promise<ReadonlyMap<string, Request>> {
  if (events.length === 0) return new Map();
  const { checkoutIntentId, organizationId, status, authorizationId, createdAt, expiresAt } = checkoutIntents;
  const rows = await tx
    .select({ checkoutIntentId, organizationId, status, authorizationId, createdAt, expiresAt })
    .from(checkoutIntents)
    .where(inArray(checkoutIntentId, [...new Set(events.map((event) => event.checkoutIntentId))]));
  return new Map(rows.map((row) => [row.checkoutIntentId, row]));
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

export async function endNotice(tx: Tx, notice: PlannedNotice, status: "delivered" | "dropped" | "failed"): Promise<void> {
  await end(tx, noticeBox, one(notice), status);
}

/** For a request that got more time after the notice was planned. */
export async function postponeNotice(tx: Tx, notice: PlannedNotice, dueAt: Date): Promise<void> {
  await postpone(tx, noticeBox, one(notice), dueAt);
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
