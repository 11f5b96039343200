import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/webhooks/contract.ts";
import type { WebhookEndpoint } from "#lib/webhooks/contract.ts";
import { listEndpoints } from "#lib/webhooks/endpoint-store.ts";
import { presentEndpoint } from "#lib/webhooks/present-endpoint.ts";

export async function readEndpoints(organizationId: string): Promise<WebhookEndpoint[]> {
  const [rows, now] = await Promise.all([listEndpoints(organizationId), clock(database())]);
  return rows.map((row) => presentEndpoint(row, now));
}

export const listWebhookEndpoints: Handler<typeof contract.listWebhookEndpoints> = async (_, { caller: { organizationId } }) => ({
  items: await readEndpoints(organizationId),
});
