import { afterAll, beforeAll, expect, test } from "vitest";
import * as contract from "#lib/webhooks/contract.ts";
import { listWebhookDeliveries } from "#lib/webhooks/list-webhook-deliveries.ts";
import { endWebhooks } from "#lib/webhooks/send-webhooks.ts";
import { addEvents } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { send } from "#test/tenant.ts";
import { deliveryRows, newEndpoint, startReceiver, workUntil, type Receiver } from "#test/webhooks.ts";

useDatabase();

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await endWebhooks();
});

test("lists deliveries with request, status and answer, newest first, page by page", async () => {
  const endpoint = await newEndpoint(receiver, (_, response) => response.end("Thanks."));
  const { webhookEndpointId: id, organizationId, owner, path } = endpoint;
  await addEvents(organizationId, 4);
  await workUntil(async () => (await deliveryRows(id)).filter(({ status }) => status === "delivered").length === 3);
  const list = (query = "") => send(contract.listWebhookDeliveries, listWebhookDeliveries, { id, as: owner.credential, query });
  const { items } = (await list()).data;
  const bodies = new Set(receiver.at(path).map(({ body }) => body));
  expect(new Set(items.map(({ event }) => JSON.stringify(event)))).toEqual(bodies);
  for (const item of items)
    expect(item).toMatchObject({
      status: "delivered",
      attempts: 1,
      responseStatus: 200,
      responseBody: "Thanks.",
      eventId: item.event?.id,
    });
  const first = (await list("?limit=2")).data;
  const second = (await list(`?limit=2&cursor=${first.nextCursor}`)).data;
  expect([...first.items, ...second.items]).toEqual(items);
  expect((await list("?status=failed")).data).toEqual({ items: [], hasMore: false });
});
