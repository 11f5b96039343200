import { z } from "zod";
import { once } from "#lib/command/idempotency.ts";
import type { Tx } from "#lib/db/client.ts";
import { isStoredReply, type Idempotency, type Operation } from "#lib/http/operation.ts";
import { Problem } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";
import type { WebhookEndpoint } from "#lib/webhooks/contract.ts";
import type { EndpointRow } from "#lib/webhooks/endpoint-store.ts";

export function presentEndpoint(row: EndpointRow, now: Date): WebhookEndpoint {
  const { webhookEndpointId, url, description, eventTypes, full, status, disabledReason, publicKey, sequence } = row;
  const { previousUntil, failingSince, lastSuccessAt, createdAt } = row;
  return {
    webhookEndpointId,
    url,
    ...(description !== null && { description }),
    eventTypes,
    full,
    status,
    ...(disabledReason !== null && { disabledReason }),
    publicKey,
    ...(previousUntil !== null && previousUntil > now && { previousSecretUntil: toWire(previousUntil) }),
    sequence,
    ...(failingSince !== null && { failingSince: toWire(failingSince) }),
    ...(lastSuccessAt !== null && { lastSuccessAt: toWire(lastSuccessAt) }),
    createdAt: toWire(createdAt),
  };
}

const Remembered = z.object({ webhookEndpointId: z.string() });

/** Stores only the endpoint's id, so a repeat cannot show the secret again. @throws Problem conflict for a repeat */
export async function onceWithoutSecret(
  operation: Operation,
  idempotency: Idempotency | null,
  work: (tx: Tx) => Promise<WebhookEndpoint>,
): Promise<WebhookEndpoint> {
  let made: WebhookEndpoint | undefined;
  const reply = await once({ ...operation, response: Remembered }, idempotency, async (tx) => (made = await work(tx)));
  if (made && isStoredReply(reply) && !reply.replayed) return made;
  const { webhookEndpointId } = Remembered.parse(JSON.parse(reply.body));
  throw new Problem("conflict", {
    detail: `This was done already for the webhook endpoint ${webhookEndpointId}. Its secret was shown then and cannot be shown again; rotate it to get a new one.`,
  });
}
