import { afterAll, beforeAll, expect, test } from "vitest";
import * as contract from "#lib/webhooks/contract.ts";
import { deleteWebhookEndpoint } from "#lib/webhooks/delete-webhook-endpoint.ts";
import { endWebhooks } from "#lib/webhooks/send-webhooks.ts";
import { addEvents, eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { send } from "#test/tenant.ts";
import { deliveryRows, endpointRow, newEndpoint, startReceiver, workUntil, type Receiver } from "#test/webhooks.ts";

useDatabase();

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await endWebhooks();
});

test("deletes the endpoint with its deliveries, and sends nothing more", async () => {
  const endpoint = await newEndpoint(receiver);
  const { webhookEndpointId: id, organizationId, path, owner } = endpoint;
  await addEvents(organizationId, 2);
  await workUntil(async () => (await deliveryRows(id))[0]?.status === "delivered");
  const deleted = await send(contract.deleteWebhookEndpoint, deleteWebhookEndpoint, { id, as: owner.credential, body: {} });
  expect(deleted.data).toMatchObject({ webhookEndpointId: id });
  expect([await endpointRow(id), await deliveryRows(id)]).toEqual([undefined, []]);
  expect((await eventsAbout(id)).map(({ type }) => type)).toEqual(["webhookEndpoint.created", "webhookEndpoint.deleted"]);
  await addEvents(organizationId, 2);
  const other = await newEndpoint(receiver);
  await addEvents(other.organizationId, 2);
  await workUntil(() => receiver.at(other.path).length === 1);
  expect(receiver.at(path)).toHaveLength(1);
});
