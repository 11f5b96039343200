import type { ChainedEvent } from "#lib/audit/chain.ts";
import { eventsAt, readEvents } from "#lib/audit/read-store.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { ageOf, minutes } from "#lib/time.ts";
import { isDelivered } from "#lib/webhooks/deliveries/attempt.ts";
import {
  beginDeliveries,
  leaseDeliveries,
  noteDelivered,
  type DeliveryRow,
  type Answered,
} from "#lib/webhooks/deliveries/store.ts";
import { lockEnabled, moveEndpoint, type LockedEndpoint, type Target } from "#lib/webhooks/endpoint-store.ts";
import { DELIVERY_LEASE_MS } from "#lib/webhooks/limits.ts";
import { bodyOf, isWanted } from "#lib/webhooks/deliveries/message.ts";

/** Further events wait in the audit chain. After `probeMs` without an attempt, a failing endpoint gets one more event. */
export const limits = { openMax: 1_000, openFailingMax: 20, probeMs: minutes(10) } as const;
/** The endpoint may subscribe to only a few of the events that one statement reads. */
const EVENTS = 200;

type Sending = Pick<DeliveryRow, "webhookDeliveryId" | "webhookEndpointId" | "eventId" | "attempts">;
export type Begun = { readonly delivery: Sending; readonly body: string | null; readonly target: Target };
export type Turn = { readonly begun: readonly Begun[]; readonly isFailing: boolean };

function roomFor({ failingSince, lastAttemptAt, open, nowMs }: LockedEndpoint, free: number): number {
  const room = Math.min(free, (failingSince === null ? limits.openMax : limits.openFailingMax) - open);
  if (room > 0 || failingSince === null || free === 0) return room;
  const isQuiet = lastAttemptAt === null || ageOf(lastAttemptAt, new Date(nowMs)) > limits.probeMs;
  return isQuiet ? 1 : 0;
}

/** `ahead` keeps events that were read and are not begun yet. Returns the begun deliveries and the new cursor. */
async function beginNew(tx: Tx, endpoint: LockedEndpoint, free: number, ahead: ChainedEvent[]) {
  const room = roomFor(endpoint, free);
  if (room <= 0) return { begun: [], sequence: endpoint.sequence };
  const { webhookEndpointId, organizationId, eventTypes, target } = endpoint;
  // Another process may have sent messages of this endpoint and moved its cursor.
  if (ahead[0]?.sequence !== endpoint.sequence + 1) ahead.length = 0;
  if (ahead.length < room) {
    const after = ahead.at(-1)?.sequence ?? endpoint.sequence;
    ahead.push(...(await readEvents(organizationId, after, after + EVENTS, EVENTS, tx)));
  }
  const wanted = ahead.filter(({ type }) => isWanted(type, eventTypes)).slice(0, room);
  const sequence = (wanted.length === room ? wanted.at(-1) : ahead.at(-1))?.sequence ?? endpoint.sequence;
  ahead.splice(0, ahead.findLastIndex((event) => event.sequence <= sequence) + 1);
  const rows = wanted.map((event) => ({
    event,
    delivery: { webhookDeliveryId: newId("webhookDelivery"), webhookEndpointId, eventId: event.auditEventId, attempts: 1 },
  }));
  const inserted = await beginDeliveries(tx, { webhookEndpointId, organizationId }, rows, DELIVERY_LEASE_MS);
  const begun = rows
    .filter(({ delivery }) => inserted.has(delivery.webhookDeliveryId))
    .map(({ event, delivery }): Begun => ({ delivery, target, body: bodyOf(endpoint.full, event) }));
  return { begun, sequence };
}

async function beginDue(
  tx: Tx,
  { webhookEndpointId, organizationId, target, full }: LockedEndpoint,
  free: number,
): Promise<Begun[]> {
  const due = await leaseDeliveries(tx, webhookEndpointId, free);
  const sequences = due.flatMap(({ sequence }) => sequence ?? []);
  const events = await eventsAt(tx, organizationId, sequences);
  const bySequence = new Map(events.map((event) => [event.sequence, event]));
  return due.map((delivery) => ({ delivery, target, body: bodyOf(full, bySequence.get(delivery.sequence ?? 0), delivery) }));
}

/**
 * Stores successes, begins at most `free` deliveries and moves the cursor in one transaction, so that no event is skipped.
 * Begins none if the endpoint is not enabled or another process has locked it.
 */
export const takeTurn = (
  webhookEndpointId: string,
  answered: readonly Answered[],
  free: number,
  ahead: ChainedEvent[],
): Promise<Turn> =>
  database().transaction(async (tx) => {
    const endpoint = await lockEnabled(tx, webhookEndpointId, limits.openMax);
    const delivered = answered.filter(({ answer }) => isDelivered(answer));
    if (delivered.length > 0) await noteDelivered(tx, delivered);
    const succeeded = delivered.length > 0 && answered.at(-1) === delivered.at(-1);
    if (!endpoint) {
      if (succeeded) await moveEndpoint(tx, webhookEndpointId, { sequence: null, succeeded });
      return { begun: [], isFailing: false };
    }
    const again = endpoint.isDue && free > 0 ? await beginDue(tx, endpoint, free) : [];
    const { begun, sequence } = await beginNew(tx, endpoint, free - again.length, ahead);
    if (succeeded || sequence !== endpoint.sequence) await moveEndpoint(tx, webhookEndpointId, { sequence, succeeded });
    return { begun: [...again, ...begun], isFailing: endpoint.failingSince !== null && !succeeded };
  });
