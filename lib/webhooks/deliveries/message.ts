import type { ChainedEvent } from "#lib/audit/chain.ts";
import { fullEvent, thinEvent, type Event } from "#lib/audit/thin-event.ts";
import { toWire } from "#lib/time.ts";
import type { DeliveryRow } from "#lib/webhooks/deliveries/store.ts";

export const TESTED = "webhookEndpoint.tested";

type Tested = Pick<DeliveryRow, "sequence" | "webhookEndpointId" | "eventId" | "createdAt">;

/** The body of a test, which is in no audit log. */
export const testEvent = ({ webhookEndpointId, eventId, createdAt }: Tested): Event => ({
  id: eventId,
  type: TESTED,
  timestamp: toWire(createdAt),
  sequence: 0,
  data: { entityType: "webhookEndpoint", entityId: webhookEndpointId, status: "tested" },
});

/** The event as listEvents shows it, or with actor and metadata, or a test event. Null if the event cannot be read. */
export function bodyOf(isFull: boolean, event: ChainedEvent): string;
export function bodyOf(isFull: boolean, event: ChainedEvent | undefined, delivery: Tested): string | null;
export function bodyOf(isFull: boolean, event: ChainedEvent | undefined, delivery?: Tested): string | null {
  if (event) return JSON.stringify((isFull ? fullEvent : thinEvent)(event));
  return delivery?.sequence === null ? JSON.stringify(testEvent(delivery)) : null;
}

/** An empty list means all types. */
export const isWanted = (type: string, eventTypes: readonly string[]): boolean =>
  eventTypes.length === 0 || eventTypes.some((one) => one === type || (one.endsWith(".*") && type.startsWith(one.slice(0, -1))));
