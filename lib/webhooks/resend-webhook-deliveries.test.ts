import { afterAll, beforeAll, expect, test } from "vitest";
import * as contract from "#lib/webhooks/contract.ts";
import { resendWebhookDeliveries } from "#lib/webhooks/resend-webhook-deliveries.ts";
import { endWebhooks } from "#lib/webhooks/send-webhooks.ts";
import { addEvents } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { send } from "#test/tenant.ts";
import { deliveryRows, giveUp, newEndpoint, startReceiver, workUntil, type Receiver } from "#test/webhooks.ts";

useDatabase();

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await endWebhooks();
});

test("sends one delivery again, or all that failed since a time, with the same ids", async () => {
  const endpoint = await newEndpoint(receiver, (_, response) => response.writeHead(500).end());
  const { webhookEndpointId: id, organizationId, owner, path } = endpoint;
  const resend = (body: Record<string, unknown>) =>
    send(contract.resendWebhookDeliveries, resendWebhookDeliveries, { id, as: owner.credential, body });
  const delivered = async () => (await deliveryRows(id)).filter(({ status }) => status === "delivered").length;
  await addEvents(organizationId, 4);
  await workUntil(async () => {
    const rows = await deliveryRows(id);
    return rows.length === 3 && rows.every(({ error }) => error !== null);
  });
  await giveUp(id);
  receiver.answer(path, null);
  const [first] = await deliveryRows(id);
  expect((await resend({ webhookDeliveryId: first!.webhookDeliveryId })).data).toEqual({ resent: 1 });
  await workUntil(async () => (await delivered()) === 1);
  expect((await resend({ failedSince: "2099-01-01T00:00:00Z" })).data).toEqual({ resent: 0 });
  expect((await resend({ failedSince: first!.createdAt.toISOString() })).data).toEqual({ resent: 2 });
  await workUntil(async () => (await delivered()) === 3);
  const ids = receiver.at(path).map(({ headers }) => headers["webhook-id"]);
  expect(new Set(ids).size).toBe(3);
  const sentFirst = () => receiver.at(path).filter(({ headers }) => headers["webhook-id"] === first?.eventId).length;
  const before = sentFirst();
  expect((await resend({ webhookDeliveryId: first!.webhookDeliveryId })).data).toEqual({ resent: 1 });
  await workUntil(() => sentFirst() > before);
  expect((await resend({ webhookDeliveryId: "whd_unknown" })).problem.code).toBe("not_found");
  for (const body of [{}, { webhookDeliveryId: first!.webhookDeliveryId, failedSince: "2026-01-01T00:00:00Z" }])
    expect((await resend(body)).status).toBe(400);
});
