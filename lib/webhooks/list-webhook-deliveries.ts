import { eventsAt } from "#lib/audit/read-store.ts";
import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import { notFound } from "#lib/problem.ts";
import type * as contract from "#lib/webhooks/contract.ts";
import { listDeliveries, type DeliveryRow } from "#lib/webhooks/deliveries/store.ts";
import { findEndpoint } from "#lib/webhooks/endpoint-store.ts";
import { presentDelivery } from "#lib/webhooks/deliveries/present-delivery.ts";

type Query = {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly status?: DeliveryRow["status"] | undefined;
};

/** @throws Problem not_found, invalid_request */
export async function readDeliveries(organizationId: string, id: string, { limit, cursor, status }: Query) {
  const place = decodeCursor(cursor);
  const endpoint = await findEndpoint(database(), organizationId, id);
  if (!endpoint) throw notFound("webhook endpoint");
  const rows = await listDeliveries({ endpointId: id, status, place, rows: limit + 1 });
  const { items, ...rest } = page(rows, limit, (row) => row.webhookDeliveryId);
  const sequences = items.flatMap(({ sequence }) => sequence ?? []);
  const events = new Map((await eventsAt(database(), organizationId, sequences)).map((one) => [one.sequence, one]));
  return {
    endpoint,
    deliveries: { items: items.map((row) => presentDelivery(row, events.get(row.sequence ?? 0), endpoint.full)), ...rest },
  };
}

export const listWebhookDeliveries: Handler<typeof contract.listWebhookDeliveries> = async (
  { id, query },
  { caller: { organizationId } },
) => (await readDeliveries(organizationId, id, query)).deliveries;
