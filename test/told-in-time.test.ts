import { afterAll, beforeAll, expect, test } from "vitest";
import { useDatabase } from "#test/database.ts";
import { startSmtp, type Mailbox } from "#test/mail.ts";
import { askingBuyer, openRequest } from "#test/notices.ts";
import { addTestDevice, decrypt, startPushService, type PushService } from "#test/push.ts";
import { runServer } from "#test/running-server.ts";
import { create, startReceiver, type Receiver } from "#test/webhooks.ts";

useDatabase();

let receiver: Receiver;
let service: PushService;
let smtp: Mailbox;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startPushService();
  smtp = await startSmtp();
});
afterAll(async () => {
  await smtp.stop();
  await service.stop();
  await receiver.stop();
});

test("a request reaches a mail server, a device and a webhook at once", async () => {
  await runServer({ OUTBOUND_LOOPBACK: process.env["OUTBOUND_LOOPBACK"] ?? "" });
  const { buyer, mandateId } = await askingBuyer();
  const device = await addTestDevice(service, buyer.person.credential);
  const path = receiver.newPath();
  const endpoint = await create(buyer.person, { url: receiver.url(path), eventTypes: ["payment.approvalRequired"] });
  expect(endpoint.status).toBe(201);
  const start = performance.now();
  const { checkoutIntentId, authorizationId } = await openRequest(buyer, mandateId);
  const arrived = () => [smtp.received.length, service.received.length, receiver.at(path).length];
  await expect.poll(arrived, { interval: 10 }).toEqual([1, 1, 1]);
  expect(performance.now() - start).toBeLessThan(25_000);
  expect(JSON.stringify(decrypt(service.received[0]!, device))).toContain(checkoutIntentId);
  expect(receiver.at(path)[0]!.body).toContain(authorizationId);
});
