import type { ChainedEvent } from "#lib/audit/chain.ts";
import { fullEvent, thinEvent } from "#lib/audit/thin-event.ts";
import { toWire } from "#lib/time.ts";
import type { WebhookDelivery } from "#lib/webhooks/contract.ts";
import { testEvent } from "#lib/webhooks/deliveries/message.ts";
import type { DeliveryRow } from "#lib/webhooks/deliveries/store.ts";

export function presentDelivery(row: DeliveryRow, event: ChainedEvent | undefined, isFull = false): WebhookDelivery {
  const { webhookDeliveryId, webhookEndpointId, eventId, type, status, attempts, createdAt } = row;
  const { responseStatus, responseBody, error, durationMs, lastAttemptAt, nextAttemptAt } = row;
  return {
    webhookDeliveryId,
    webhookEndpointId,
    eventId,
    type,
    status,
    attempts,
    ...(event && { event: (isFull ? fullEvent : thinEvent)(event) }),
    ...(row.sequence === null && { event: testEvent(row) }),
    ...(responseStatus !== null && { responseStatus }),
    ...(responseBody !== null && responseBody !== "" && { responseBody }),
    ...(error !== null && { error }),
    ...(durationMs !== null && { durationMs }),
    ...(lastAttemptAt !== null && { lastAttemptAt: toWire(lastAttemptAt) }),
    ...(nextAttemptAt !== null && { nextAttemptAt: toWire(nextAttemptAt) }),
    createdAt: toWire(createdAt),
  };
}
