import { and, asc, eq, gt, inArray, isNull, lte, or, sql } from "drizzle-orm";
import { checkoutIntents, orders } from "#lib/approvals/tables.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { after, leaseEnded } from "#lib/db/leases.ts";
import { mandates } from "#lib/mandates/tables.ts";

type Db = Database | Tx;

export type OrderRow = typeof orders.$inferSelect;
type OrderChange = Partial<
  Pick<
    OrderRow,
    "status" | "attempt" | "offer" | "authorizationId" | "checkoutIntentId" | "executionId" | "credentialHash" | "answer"
  >
>;

/** Finds or inserts the order with the slot of `row`, a hash of the organization, operation and idempotency key (slotOf). */
export async function openOrder(db: Db, row: typeof orders.$inferInsert): Promise<OrderRow> {
  await db.insert(orders).values(row).onConflictDoNothing({ target: orders.slot });
  // A parallel call with the same key may have deleted the order between the two statements.
  return (await findOrder(db, row.slot)) ?? openOrder(db, row);
}

export async function findOrder(db: Db, slot: string): Promise<OrderRow | null> {
  const [order] = await db.select().from(orders).where(eq(orders.slot, slot));
  return order ?? null;
}

export async function findOrderById(db: Db, orderId: string): Promise<OrderRow | null> {
  const [order] = await db.select().from(orders).where(eq(orders.orderId, orderId));
  return order ?? null;
}

/** Null if another call has the lease, or if there is no such order. The lease of a process that dies expires. */
export async function leaseOrder(db: Db, orderId: string, lease: string, leaseMs: number): Promise<OrderRow | null> {
  const [order] = await db
    .update(orders)
    .set({ lease, leasedUntil: after(leaseMs) })
    .where(and(eq(orders.orderId, orderId), leaseEnded(orders.leasedUntil, leaseMs)))
    .returning();
  return order ?? null;
}

/** In milliseconds. */
export async function leaseLeft(db: Db, orderId: string): Promise<number> {
  const left = sql<number>`extract(epoch FROM ${orders.leasedUntil} - clock_timestamp())::float8 * 1000`;
  const [order] = await db.select({ left }).from(orders).where(eq(orders.orderId, orderId));
  return Math.max(0, order?.left ?? 0);
}

export async function endLease(db: Db, orderId: string, lease: string): Promise<void> {
  await db
    .update(orders)
    .set({ leasedUntil: null })
    .where(and(eq(orders.orderId, orderId), eq(orders.lease, lease)));
}

/** Postpones the next checks, so that another worker checks the orders if this worker dies; leaseOrder takes the leases. */
export async function dueOrders(tx: Tx, limit: number, leaseMs: number): Promise<readonly string[]> {
  const due = await tx
    .select({ orderId: orders.orderId })
    .from(orders)
    .where(lte(orders.nextCheckAt, sql`clock_timestamp()`))
    .orderBy(asc(orders.nextCheckAt))
    .limit(limit)
    .for("update", { skipLocked: true });
  const ids = due.map(({ orderId }) => orderId);
  if (ids.length === 0) return ids;
  await tx
    .update(orders)
    .set({ nextCheckAt: after(leaseMs) })
    .where(inArray(orders.orderId, ids));
  return ids;
}

/** Deletes the order only if its state is `new` and the caller has the lease. */
export async function forgetOrder(db: Db, orderId: string, lease: string): Promise<void> {
  await db.delete(orders).where(and(eq(orders.orderId, orderId), eq(orders.lease, lease), eq(orders.status, "new")));
}

/** The time of the next check: a quarter of the order's age from now, at least 5 seconds and at most 15 minutes. */
const later = (orderId: string) => sql`(
  SELECT statement_timestamp() + least(greatest((statement_timestamp() - o.created_at) / 4, interval '5 seconds'), interval '15 minutes')
  FROM orders o WHERE o.order_id = ${orderId})`;

/** Null if another call has the lease by now. `watched` plans a worker's next check (true), or ends the checks (false). */
export async function changeOrder(
  db: Db,
  orderId: string,
  lease: string,
  change: OrderChange,
  watched?: boolean,
): Promise<OrderRow | null> {
  const [order] = await db
    .update(orders)
    .set({
      ...change,
      ...(watched !== undefined && { nextCheckAt: watched ? later(orderId) : null }),
      updatedAt: sql`statement_timestamp()`,
    })
    .where(and(eq(orders.orderId, orderId), eq(orders.lease, lease)))
    .returning();
  return order ?? null;
}

/** Stores the final answer of an order that has ended, unless one is stored already. Returns the stored answer. */
export async function sealOrder(db: Db, orderId: string, body: string): Promise<string> {
  await db
    .update(orders)
    .set({ body })
    .where(and(eq(orders.orderId, orderId), isNull(orders.body)));
  const [order] = await db.select({ body: orders.body }).from(orders).where(eq(orders.orderId, orderId));
  return order?.body ?? body;
}

/** Whether a person declined this basket, or took back its approval, in the last hour: for this mandate, or for none yet. */
export async function rejectedLately(db: Db, mandateId: string, basketHash: string): Promise<boolean> {
  const { organizationId } = mandates;
  const owner = db.select({ organizationId }).from(mandates).where(eq(mandates.mandateId, mandateId));
  const ofItsOrganization = inArray(checkoutIntents.organizationId, owner);
  const rows = await db
    .select({ id: checkoutIntents.checkoutIntentId })
    .from(checkoutIntents)
    .where(
      and(
        or(eq(checkoutIntents.mandateId, mandateId), and(isNull(checkoutIntents.mandateId), ofItsOrganization)),
        eq(checkoutIntents.basketHash, basketHash),
        eq(checkoutIntents.status, "rejected"),
        gt(checkoutIntents.updatedAt, sql`clock_timestamp() - interval '1 hour'`),
      ),
    )
    .limit(1);
  return rows.length > 0;
}
