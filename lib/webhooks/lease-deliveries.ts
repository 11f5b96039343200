import { eventsAt, readEvents } from "#lib/audit/read-store.ts";
import { clock } from "#lib/audit/transact.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { beginDeliveries, countOpen, leaseDue, type DeliveryRow } from "#lib/webhooks/delivery-store.ts";
import { changeEndpoint, lockEnabled, type EndpointRow } from "#lib/webhooks/endpoint-store.ts";
import { bodyOf, isWanted, LEASE_MS } from "#lib/webhooks/message.ts";
import { minutes } from "#lib/time.ts";

/**
 * The most deliveries of an endpoint that may be open. An endpoint that fails may have few. Its other events wait in the audit
 * chain, where they need no further rows or memory.
 */
export const limits = { openMax: 1_000, openFailingMax: 20, probeMs: minutes(10) } as const;
const WIDTH = 16;
const FAILING_WIDTH = 2;
/** The number of events that one transaction reads for an endpoint. The endpoint may want only a few of them. */
const EVENTS = 200;

export type Begun = { readonly delivery: DeliveryRow; readonly body: string | null };

/** The number of new events for which a delivery may begin now. */
async function roomFor(tx: Tx, endpoint: EndpointRow, free: number): Promise<number> {
  const { webhookEndpointId, failingSince, lastAttemptAt } = endpoint;
  const open = await countOpen(tx, webhookEndpointId, limits.openMax);
  const room = Math.min(free, (failingSince === null ? limits.openMax : limits.openFailingMax) - open);
  if (room > 0 || failingSince === null || free === 0) return room;
  const isQuiet = lastAttemptAt === null || (await clock(tx)).getTime() - lastAttemptAt.getTime() > limits.probeMs;
  return isQuiet ? 1 : 0;
}

/**
 * Begins deliveries of the next events and stores how far the events were read, in one transaction, so that every event is used
 * exactly once.
 */
async function beginNew(tx: Tx, endpoint: EndpointRow, free: number): Promise<Begun[]> {
  const room = await roomFor(tx, endpoint, free);
  if (room <= 0) return [];
  const { webhookEndpointId, organizationId, sequence, eventTypes } = endpoint;
  const events = await readEvents(organizationId, sequence, sequence + EVENTS, EVENTS, tx);
  const wanted = events.filter(({ type }) => isWanted(type, eventTypes)).slice(0, room);
  const last = wanted.length === room ? wanted.at(-1) : events.at(-1);
  if (!last) return [];
  const rows = wanted.map(({ auditEventId, type, sequence: number }) => ({
    webhookDeliveryId: newId("webhookDelivery"),
    webhookEndpointId,
    organizationId,
    eventId: auditEventId,
    type,
    sequence: number,
  }));
  const begun = await beginDeliveries(tx, rows, LEASE_MS);
  await changeEndpoint(tx, webhookEndpointId, { sequence: last.sequence });
  const bySequence = new Map(wanted.map((event) => [event.sequence, event]));
  return begun.map((delivery) => ({ delivery, body: bodyOf(delivery, bySequence.get(delivery.sequence ?? 0)) }));
}

/**
 * Takes the lease on the next deliveries of an endpoint: first those that are due again, then new events. Empty if another
 * process is taking them now.
 */
export const leaseDeliveries = (webhookEndpointId: string): Promise<readonly Begun[]> =>
  database().transaction(async (tx) => {
    const endpoint = await lockEnabled(tx, webhookEndpointId);
    if (!endpoint) return [];
    const width = endpoint.failingSince === null ? WIDTH : FAILING_WIDTH;
    const due = await leaseDue(tx, webhookEndpointId, width, LEASE_MS);
    const sequences = due.flatMap(({ sequence }) => sequence ?? []);
    const events = await eventsAt(tx, endpoint.organizationId, sequences);
    const bySequence = new Map(events.map((event) => [event.sequence, event]));
    const again = due.map((delivery) => ({ delivery, body: bodyOf(delivery, bySequence.get(delivery.sequence ?? 0)) }));
    return [...again, ...(await beginNew(tx, endpoint, width - due.length))];
  });
