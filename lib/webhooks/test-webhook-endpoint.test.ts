import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as contract from "#lib/webhooks/contract.ts";
import { listWebhookDeliveries } from "#lib/webhooks/list-webhook-deliveries.ts";
import { endWebhooks } from "#lib/webhooks/send-webhooks.ts";
import { testWebhookEndpoint } from "#lib/webhooks/test-webhook-endpoint.ts";
import { useDatabase } from "#test/database.ts";
import { send } from "#test/tenant.ts";
import { changeRow, deliveryRows, newEndpoint, startReceiver, workUntil, type Receiver } from "#test/webhooks.ts";

useDatabase();

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await endWebhooks();
});

test("sends a signed test message and shows its body, whatever events the endpoint wants; 409 if it is paused", async () => {
  const endpoint = await newEndpoint(receiver, undefined, { eventTypes: ["mandate.created"] });
  const { webhookEndpointId: id, owner, secret, path } = endpoint;
  const ask = () => send(contract.testWebhookEndpoint, testWebhookEndpoint, { id, as: owner.credential, body: {} });
  const { data } = await ask();
  expect(data).toMatchObject({ status: "pending", attempts: 0, type: "webhookEndpoint.tested" });
  await workUntil(async () => (await deliveryRows(id))[0]?.status === "delivered");
  const [message] = receiver.at(path);
  expect(JSON.stringify(data.event)).toBe(message!.body);
  const listed = await send(contract.listWebhookDeliveries, listWebhookDeliveries, { id, as: owner.credential });
  expect(listed.data.items).toMatchObject([
    { webhookDeliveryId: data.webhookDeliveryId, event: data.event, status: "delivered" },
  ]);
  expect(new Webhook(secret).verify(message!.body, message!.headers)).toMatchObject({
    id: data.eventId,
    type: "webhookEndpoint.tested",
    data: { entityType: "webhookEndpoint", entityId: id, status: "tested" },
  });
  await changeRow(id, { status: "paused" });
  expect((await ask()).problem).toMatchObject({ code: "conflict", detail: expect.stringContaining("paused") });
});
