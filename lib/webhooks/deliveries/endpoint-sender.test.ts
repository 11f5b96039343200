import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { inTurn } from "#lib/db/turns.ts";
import { perProcess } from "#lib/process.ts";
import { CONNECTIONS, runEndpointSender } from "#lib/webhooks/deliveries/endpoint-sender.ts";
import { addEvents } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { deliveryRows, newEndpoint, startReceiver, type Receiver } from "#test/webhooks.ts";

useDatabase();

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.stop());

/** The turn of a sender waits until the returned function is called. */
async function holdTurn(): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  const names = Array.from({ length: CONNECTIONS }, (_, at) => `webhooks ${at}`);
  for (const name of names) void inTurn(name, () => held.promise, { first: true });
  const queues = () => perProcess("db/turns", () => new Map<string, unknown[]>());
  await expect.poll(() => names.some((name) => queues().get(name)?.length === 1), { interval: 5 }).toBe(true);
  return held.resolve;
}

/** Resolves when this process has got a whole answer to a request that it sent. */
function nextAnswer(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const arrived = (): void => resolve();
  subscribe("undici:request:trailers", arrived);
  onTestFinished(() => void unsubscribe("undici:request:trailers", arrived));
  return promise.then(() => setImmediate());
}

test("an answer that arrives while the last turn runs is stored", async () => {
  let answer = (): void => {};
  const endpoint = await newEndpoint(receiver, (_, response) => {
    answer = () => void response.end();
  });
  const { webhookEndpointId, organizationId, path } = endpoint;
  await addEvents(organizationId, 2);
  const ended = runEndpointSender(webhookEndpointId, false, () => false);
  await expect.poll(() => receiver.at(path).length, { interval: 5 }).toBe(1);
  const release = await holdTurn();
  const arrived = nextAnswer();
  answer();
  await arrived;
  release();
  await ended;
  expect(await deliveryRows(webhookEndpointId)).toMatchObject([{ status: "delivered", attempts: 1 }]);
});
