import { and, count, desc, eq, gte, inArray, isNotNull, lt, lte, sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import type { Answer } from "#lib/webhooks/attempt.ts";
import { webhookDeliveries } from "#lib/webhooks/tables.ts";

export type DeliveryRow = typeof webhookDeliveries.$inferSelect;
type NewDelivery = Pick<
  DeliveryRow,
  "webhookDeliveryId" | "webhookEndpointId" | "organizationId" | "eventId" | "type" | "sequence"
>;

const { webhookDeliveryId, webhookEndpointId, status, attempts, nextAttemptAt, lastAttemptAt, error } = webhookDeliveries;
const now = sql`clock_timestamp()`;
const after = (milliseconds: number) => sql`clock_timestamp() + ${milliseconds} * interval '1 millisecond'`;

/** Stores a test message. The worker sends it. */
export async function insertTest(tx: Tx, row: NewDelivery): Promise<DeliveryRow> {
  const [inserted] = await tx
    .insert(webhookDeliveries)
    .values({ ...row, status: "pending", attempts: 0, nextAttemptAt: now })
    .returning();
  return inserted!;
}

/**
 * Stores deliveries whose first attempt the caller begins now. If an event already has a delivery to the endpoint, it gets no
 * second one.
 */
export async function beginDeliveries(tx: Tx, rows: readonly NewDelivery[], leaseMs: number): Promise<DeliveryRow[]> {
  if (rows.length === 0) return [];
  const begun = { status: "pending", attempts: 1, nextAttemptAt: after(leaseMs), lastAttemptAt: now } as const;
  return tx
    .insert(webhookDeliveries)
    .values(rows.map((row) => ({ ...row, ...begun })))
    .onConflictDoNothing()
    .returning();
}

/** Takes the lease on the deliveries of an endpoint that are due. If the worker dies, they are due again when the lease ends. */
export async function leaseDue(tx: Tx, endpointId: string, rows: number, leaseMs: number): Promise<DeliveryRow[]> {
  const due = tx
    .select({ id: webhookDeliveryId })
    .from(webhookDeliveries)
    .where(and(eq(webhookEndpointId, endpointId), eq(status, "pending"), lte(nextAttemptAt, sql`(SELECT clock_timestamp())`)))
    .orderBy(nextAttemptAt)
    .limit(rows)
    .for("update", { skipLocked: true });
  return tx
    .update(webhookDeliveries)
    .set({ attempts: sql`${attempts} + 1`, nextAttemptAt: after(leaseMs), lastAttemptAt: now })
    .where(inArray(webhookDeliveryId, due))
    .returning();
}

/** The number of pending deliveries of the endpoint, counted up to `most`. */
export async function countOpen(tx: Tx, endpointId: string, most: number): Promise<number> {
  const open = tx
    .select({ one: sql`1`.as("one") })
    .from(webhookDeliveries)
    .where(and(eq(webhookEndpointId, endpointId), eq(status, "pending")))
    .limit(most)
    .as("open");
  const [row] = await tx.select({ count: count() }).from(open);
  return row?.count ?? 0;
}

type Attempt = Pick<DeliveryRow, "webhookDeliveryId" | "attempts">;
/**
 * SQL condition: the delivery is still at this attempt. After the lease ends, another worker may have begun a later attempt,
 * whose result counts.
 */
const sameAttempt = (one: Attempt) =>
  and(eq(webhookDeliveryId, one.webhookDeliveryId), eq(attempts, one.attempts), eq(status, "pending"));

const answered = ({ status: responseStatus, body: responseBody, error: told, durationMs }: Answer) => ({
  responseStatus,
  responseBody,
  error: told,
  durationMs,
});

export async function noteDelivered(attempt: Attempt, answer: Answer): Promise<void> {
  await database()
    .update(webhookDeliveries)
    .set({ ...answered(answer), status: "delivered", nextAttemptAt: null })
    .where(sameAttempt(attempt));
}

/**
 * Stores a failed attempt. `pauseMs` is null after the last attempt. Returns false if another worker has begun a later attempt.
 */
export async function noteFailed(tx: Tx, attempt: Attempt, answer: Answer, pauseMs: number | null): Promise<boolean> {
  const next =
    pauseMs === null
      ? ({ status: "failed", nextAttemptAt: null } as const)
      : ({ status: "pending", nextAttemptAt: after(pauseMs) } as const);
  const noted = await tx
    .update(webhookDeliveries)
    .set({ ...answered(answer), ...next })
    .where(sameAttempt(attempt))
    .returning({ id: webhookDeliveryId });
  return noted.length === 1;
}

/** Takes back an attempt that was begun but not sent, so that it does not count, and makes the delivery due now. */
export async function releaseAttempt(attempt: Attempt): Promise<void> {
  await database()
    .update(webhookDeliveries)
    .set({ attempts: sql`${attempts} - 1`, nextAttemptAt: now })
    .where(sameAttempt(attempt));
}

/** The number of events whose last attempt failed at or after `since`, counted up to two. */
export async function failedEventsSince(tx: Tx, endpointId: string, since: Date): Promise<number> {
  const rows = await tx
    .select({ id: webhookDeliveryId })
    .from(webhookDeliveries)
    .where(and(eq(webhookEndpointId, endpointId), gte(lastAttemptAt, since), isNotNull(error)))
    .limit(2);
  return rows.length;
}

type PageOf = {
  readonly endpointId: string;
  readonly status: DeliveryRow["status"] | undefined;
  readonly place: string | null;
  readonly rows: number;
};

/** A page of deliveries, newest first. */
export const listDeliveries = ({ endpointId, status: only, place, rows }: PageOf): Promise<DeliveryRow[]> =>
  database()
    .select()
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookEndpointId, endpointId),
        only === undefined ? undefined : eq(status, only),
        place === null ? undefined : lt(webhookDeliveryId, place),
      ),
    )
    .orderBy(desc(webhookDeliveryId))
    .limit(rows);

const again = { status: "pending", attempts: 0, nextAttemptAt: now } as const;
/** SQL condition: the delivery has ended, or its next attempt is more than `leaseMs` away, so no worker is sending it now. */
const isResting = (leaseMs: number) => sql`(${status} <> 'pending' OR ${nextAttemptAt} > ${after(leaseMs)})`;

/** Makes a new attempt due now. Null if the endpoint has no such delivery; false if an attempt is due soon in any case. */
export async function resendOne(tx: Tx, endpointId: string, id: string, leaseMs: number): Promise<boolean | null> {
  const one = and(eq(webhookEndpointId, endpointId), eq(webhookDeliveryId, id));
  const [row] = await tx.select({ id: webhookDeliveryId }).from(webhookDeliveries).where(one);
  if (!row) return null;
  const sent = await tx
    .update(webhookDeliveries)
    .set(again)
    .where(and(one, isResting(leaseMs)))
    .returning({ id: webhookDeliveryId });
  return sent.length === 1;
}

type Failed = { readonly endpointId: string; readonly since: Date; readonly rows: number; readonly leaseMs: number };

/**
 * Makes new attempts due for deliveries that failed and have not succeeded since then. Returns the number of these deliveries.
 */
export async function resendFailed(tx: Tx, { endpointId, since, rows, leaseMs }: Failed): Promise<number> {
  const failed = tx
    .select({ id: webhookDeliveryId })
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookEndpointId, endpointId),
        inArray(status, ["failed", "pending"]),
        gte(lastAttemptAt, since),
        isNotNull(error),
        isResting(leaseMs),
      ),
    )
    .orderBy(webhookDeliveryId)
    .limit(rows);
  const sent = await tx
    .update(webhookDeliveries)
    .set(again)
    .where(inArray(webhookDeliveryId, failed))
    .returning({ id: webhookDeliveryId });
  return sent.length;
}

/** Deletes at most `rows` deliveries that ended and are older than the given days. Returns how many were deleted. */
export async function deleteOldDeliveries(days: number, rows: number): Promise<number> {
  const gone = await database().execute(sql`
    DELETE FROM webhook_deliveries WHERE webhook_delivery_id IN (
      SELECT webhook_delivery_id FROM webhook_deliveries
      WHERE created_at < (SELECT clock_timestamp() - ${days} * interval '1 day') AND status <> 'pending' LIMIT ${rows})
    RETURNING webhook_delivery_id`);
  return gone.length;
}
