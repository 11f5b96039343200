import { and, desc, eq, gte, inArray, isNotNull, lt, sql } from "drizzle-orm";
import type { ChainedEvent } from "#lib/audit/chain.ts";
import { database, sqlOf, type Tx } from "#lib/db/client.ts";
import { after } from "#lib/db/leases.ts";
import { end, leaseDue, postpone } from "#lib/outbox/store.ts";
import type { Answer } from "#lib/webhooks/deliveries/attempt.ts";
import { DELIVERY_LEASE_MS } from "#lib/webhooks/limits.ts";
import { deliveries } from "#lib/webhooks/outbox-store.ts";
import { webhookDeliveries } from "#lib/webhooks/tables.ts";

export type DeliveryRow = typeof webhookDeliveries.$inferSelect;
type NewDelivery = Pick<
  DeliveryRow,
  "webhookDeliveryId" | "webhookEndpointId" | "organizationId" | "eventId" | "type" | "sequence"
>;

const { webhookDeliveryId, webhookEndpointId, status, attempts, nextAttemptAt, lastAttemptAt, error } = webhookDeliveries;
const now = sql`statement_timestamp()`;

/** An endpoint's deliveries that are due for a further attempt. */
export const leaseDeliveries = (tx: Tx, endpointId: string, rows: number): Promise<DeliveryRow[]> =>
  leaseDue(
    tx,
    deliveries,
    { rows, leaseMs: DELIVERY_LEASE_MS, where: eq(webhookEndpointId, endpointId) },
    { lastAttemptAt: now },
  );

export async function insertTest(tx: Tx, row: NewDelivery): Promise<DeliveryRow> {
  const [inserted] = await tx
    .insert(webhookDeliveries)
    .values({ ...row, status: "pending", attempts: 0, nextAttemptAt: now })
    .returning();
  return inserted!;
}

type Beginning = {
  readonly delivery: Pick<DeliveryRow, "webhookDeliveryId" | "eventId">;
  readonly event: Pick<ChainedEvent, "type" | "sequence">;
};

/** The caller begins the first attempts now. Skips events that have a delivery; returns the ids of the stored deliveries. */
export async function beginDeliveries(
  tx: Tx,
  { webhookEndpointId: endpointId, organizationId }: Pick<DeliveryRow, "webhookEndpointId" | "organizationId">,
  rows: readonly Beginning[],
  leaseMs: number,
): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const listed = rows.map(({ delivery, event }) => ({
    id: delivery.webhookDeliveryId,
    event: delivery.eventId,
    type: event.type,
    sequence: event.sequence,
  }));
  const inserted = await sqlOf(tx)`
    INSERT INTO webhook_deliveries (webhook_delivery_id, webhook_endpoint_id, organization_id, event_id, type, sequence, status, attempts,
      next_attempt_at, last_attempt_at)
    SELECT r.id, ${endpointId}, ${organizationId}, r.event, r.type, r.sequence, 'pending', 1,
      clock_timestamp() + ${leaseMs} * interval '1 millisecond', clock_timestamp()
    FROM json_to_recordset(${JSON.stringify(listed)}::text::json) AS r(id text, event text, type text, sequence bigint)
    ON CONFLICT DO NOTHING RETURNING webhook_delivery_id`;
  return new Set(inserted.map((row) => String(row["webhook_delivery_id"])));
}

type Attempt = Pick<DeliveryRow, "webhookDeliveryId" | "attempts">;
/** After the lease ends, another worker may have begun a later attempt, whose result counts. */
const sameAttempt = (one: Attempt) => and(eq(webhookDeliveryId, one.webhookDeliveryId), eq(attempts, one.attempts));

export type Answered = { readonly delivery: Attempt; readonly answer: Answer };

export async function noteDelivered(tx: Tx, answered: readonly Answered[]): Promise<void> {
  const listed = answered.map(({ delivery, answer }) => ({
    id: delivery.webhookDeliveryId,
    attempts: delivery.attempts,
    status: answer.status,
    body: answer.body,
    duration: answer.durationMs,
  }));
  await sqlOf(tx)`
    UPDATE webhook_deliveries d
    SET status = 'delivered', next_attempt_at = NULL, response_status = r.status, response_body = r.body, error = NULL, duration_ms = r.duration
    FROM json_to_recordset(${JSON.stringify(listed)}::text::json) AS r(id text, attempts int, status int, body text, duration int)
    WHERE d.webhook_delivery_id = r.id AND d.attempts = r.attempts AND d.status = 'pending'`;
}

/** `pauseMs` is null after the last attempt. Returns false if another worker has begun a later one. */
export async function noteFailed(tx: Tx, { delivery, answer }: Answered, pauseMs: number | null): Promise<boolean> {
  const { status: responseStatus, body: responseBody, error, durationMs } = answer;
  const told = { responseStatus, responseBody, error, durationMs };
  const noted =
    pauseMs === null
      ? await end(tx, deliveries, sameAttempt(delivery), "failed", told)
      : await postpone(tx, deliveries, sameAttempt(delivery), after(pauseMs), told);
  return noted === 1;
}

/** Counts at most two deliveries. While an attempt runs, `error` is that of the attempt before. */
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
/** The delivery has ended, or its next attempt is more than `leaseMs` away, so no worker is sending it now. */
const isResting = (leaseMs: number) => sql`(${status} <> 'pending' OR ${nextAttemptAt} > ${after(leaseMs)})`;

/** Null if the endpoint has no such delivery; false if an attempt runs or is due within `leaseMs`. */
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
