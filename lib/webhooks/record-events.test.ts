import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyWebhook } from "../../sdk/src/webhook.ts";
import { database } from "#lib/db/client.ts";
import { askAboutOverdue } from "#lib/settlement/sweep.ts";
import { endWebhooks } from "#lib/webhooks/send-webhooks.ts";
import { useDatabase } from "#test/database.ts";
import { record, useRecording } from "#test/recording.ts";
import { create, startReceiver, workUntil, type Receiver } from "#test/webhooks.ts";

useDatabase();
const { at, allowed, mandateFor } = useRecording();
let receiver: Receiver;
beforeAll(async () => void (receiver = await startReceiver()));
afterAll(async () => {
  await receiver.stop();
  await endWebhooks();
});

test("an endpoint gets what happens to a payment that is made elsewhere, signed, with the ids of the payment and its mandate", async () => {
  const path = receiver.newPath();
  const eventTypes = ["payment.recorded", "payment.exceeded", "payment.overdue"];
  const { data: endpoint } = await create(at.buyer.person, { url: receiver.url(path), eventTypes });
  const mandateId = await mandateFor("1000");
  const exceeded = await allowed(mandateId, "10");
  const overdue = await allowed(mandateId, "20");
  await record(at.agent, exceeded, "paid", "12");
  await database().execute(sql`UPDATE recorded_payments SET deadline = now() WHERE authorization_id = ${overdue}`);
  await askAboutOverdue();
  await workUntil(() => receiver.at(path).length === 3);
  const events = await Promise.all(receiver.at(path).map(({ headers, body }) => verifyWebhook(headers, body, endpoint.secret!)));
  expect(events.toSorted((a, b) => a.sequence - b.sequence).map(({ type, data }) => [type, data])).toMatchObject([
    ["payment.recorded", { entityId: exceeded, mandateId, recordId: expect.any(String), amount: "12", asset: "USD" }],
    ["payment.exceeded", { entityId: exceeded, mandateId }],
    ["payment.overdue", { entityId: overdue, mandateId }],
  ]);
});
