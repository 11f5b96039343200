import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { compileAccess } from "#lib/http/access.ts";
import type { MemberCaller } from "#lib/http/operation.ts";
import { listWebhookEndpoints, type WebhookDelivery, type WebhookEndpoint } from "#lib/webhooks/contract.ts";
import { readDeliveries } from "#lib/webhooks/list-webhook-deliveries.ts";
import { readEndpoints } from "#lib/webhooks/list-webhook-endpoints.ts";
import { presentEndpoint } from "#lib/webhooks/present-endpoint.ts";

const ROWS = 20;

const requireAccess = compileAccess(listWebhookEndpoints.access);

/** @throws Problem capability_required */
export async function viewWebhooks(caller: MemberCaller): Promise<readonly WebhookEndpoint[]> {
  requireAccess(caller);
  return readEndpoints(caller.organizationId);
}

export type WebhookView = {
  readonly endpoint: WebhookEndpoint;
  readonly deliveries: readonly WebhookDelivery[];
  readonly nextCursor?: string;
};

/** @throws Problem capability_required, not_found, invalid_request for an invalid cursor */
export async function viewWebhook(caller: MemberCaller, id: string, cursor: string | undefined): Promise<WebhookView> {
  requireAccess(caller);
  const { endpoint, deliveries } = await readDeliveries(caller.organizationId, id, { limit: ROWS, cursor });
  const { items, nextCursor } = deliveries;
  const shown = presentEndpoint(endpoint, await clock(database()));
  return { endpoint: shown, deliveries: items, ...(nextCursor !== undefined && { nextCursor }) };
}
