import { spawn } from "node:child_process";
import { join } from "node:path";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { verifyWebhook } from "../../sdk/src/webhook.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import * as audit from "#lib/audit/contract.ts";
import { listEvents } from "#lib/audit/list-events.ts";
import { onceMsMax } from "#lib/outbound/guarded-fetch.ts";
import { DAY_MS } from "#lib/time.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { deleteWebhookEndpoint } from "#lib/webhooks/delete-webhook-endpoint.ts";
import { rotateWebhookSecret } from "#lib/webhooks/rotate-webhook-secret.ts";
import { sendLimits, TURN_MS } from "#lib/webhooks/limits.ts";
import { endWebhooks } from "#lib/webhooks/send-webhooks.ts";
import { addEvents, eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { mailsTo } from "#test/mail.ts";
import { send } from "#test/tenant.ts";
import {
  changeRow,
  deliveryRows,
  endpointRow,
  setDue,
  newEndpoint,
  startReceiver,
  workUntil,
  type Message,
  type Receiver,
} from "#test/webhooks.ts";

useDatabase();

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await endWebhooks();
});

const status =
  (code: number, headers: Record<string, string> = {}, body = "") =>
  (_: unknown, response: { writeHead(code: number, headers: Record<string, string>): { end(body: string): void } }): void =>
    response.writeHead(code, headers).end(body);

/**
 * Adds this many events about payments. Each call of addEvents also writes an event about a mandate first; the endpoints of
 * these tests do not subscribe to it.
 */
const addPayments = (organizationId: string, count: number) => addEvents(organizationId, count + 1);

/** Whether one of the message's v1a signatures is valid for the public key, checked with WebCrypto. */
async function isSignedBy(publicKey: string, { headers, body }: Message): Promise<boolean> {
  const raw = Buffer.from(publicKey.slice("whpk_".length), "base64");
  const key = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
  const signed = Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`);
  const signatures = headers["webhook-signature"].split(" ").filter((one) => one.startsWith("v1a,"));
  const checks = signatures.map((one) => crypto.subtle.verify("Ed25519", key, Buffer.from(one.slice(4), "base64"), signed));
  return (await Promise.all(checks)).includes(true);
}

const accepts = (secret: string, { body, headers }: Message): boolean => {
  try {
    return new StandardWebhook(secret).verify(body, headers) !== null;
  } catch {
    return false;
  }
};

describe("messages", () => {
  test("two libraries verify v1 also if v1a is beside it, WebCrypto verifies v1a, and the body is the event that listEvents shows", async () => {
    const endpoint = await newEndpoint(receiver, status(200, {}, `Thanks.\0${"x".repeat(2_000)}`));
    await addPayments(endpoint.organizationId, 1);
    await workUntil(async () => (await deliveryRows(endpoint.webhookEndpointId))[0]?.status === "delivered");
    const [message] = receiver.at(endpoint.path);
    const { body, headers } = message!;
    const listed = await send(audit.listEvents, listEvents, { as: endpoint.owner.credential });
    const event = listed.data.items.find(({ type }) => type === "payment.authorized");
    expect(new StandardWebhook(endpoint.secret).verify(body, headers)).toEqual(event);
    expect(() => new SvixWebhook(endpoint.secret).verify(body, headers)).not.toThrow();
    expect(() => new SvixWebhook(endpoint.secret).verify(`${body} `, headers)).toThrow();
    expect(headers["webhook-signature"]).toMatch(/^v1,\S+ v1a,\S+$/);
    expect(await isSignedBy(endpoint.publicKey, message!)).toBe(true);
    expect(await isSignedBy(endpoint.publicKey, { ...message!, body: `${body} ` })).toBe(false);
    expect(await verifyWebhook(headers, body, endpoint.secret)).toEqual(event);
    expect(await verifyWebhook(headers, body, endpoint.publicKey)).toEqual(event);
    expect([headers["webhook-id"], headers["content-type"]]).toEqual([event?.id, "application/json"]);
    const [row] = await deliveryRows(endpoint.webhookEndpointId);
    expect(row).toMatchObject({ attempts: 1, responseStatus: 200, responseBody: `Thanks. ${"x".repeat(504)}`, error: null });
  });

  test("an endpoint may get the whole event, also when it is sent again", async () => {
    const endpoint = await newEndpoint(receiver, status(500), { full: true });
    const id = endpoint.webhookEndpointId;
    await addPayments(endpoint.organizationId, 1);
    await workUntil(async () => (await endpointRow(id))?.failingSince !== null);
    receiver.answer(endpoint.path, null);
    await setDue(id);
    await workUntil(async () => (await deliveryRows(id))[0]?.status === "delivered");
    const messages = receiver.at(endpoint.path);
    expect(new Set(messages.map(({ body }) => body)).size).toBe(1);
    expect(JSON.parse(messages[0]!.body)).toMatchObject({ data: { entityId: "aut_1" }, actorId: "sa_1", metadata: { at: 1 } });
  });

  test("both secrets sign during a grace period; without a grace period, the old secret no longer signs", async () => {
    const endpoint = await newEndpoint(receiver);
    const { webhookEndpointId: id, organizationId, path } = endpoint;
    const rotate = async (gracePeriodSeconds: number) => {
      const as = endpoint.owner.credential;
      return (await send(contract.rotateWebhookSecret, rotateWebhookSecret, { id, as, body: { gracePeriodSeconds } })).data;
    };
    const next = async () => {
      const before = receiver.at(path).length;
      await addPayments(organizationId, 1);
      await workUntil(() => receiver.at(path).length > before);
      return receiver.at(path).at(-1)!;
    };
    const second = await rotate(600);
    const both = await next();
    expect([accepts(endpoint.secret, both), accepts(second.secret!, both)]).toEqual([true, true]);
    expect([await isSignedBy(endpoint.publicKey, both), await isSignedBy(second.publicKey, both)]).toEqual([true, true]);
    for (const key of [endpoint.secret, second.secret!, endpoint.publicKey, second.publicKey])
      await expect(verifyWebhook(both.headers, both.body, key)).resolves.toMatchObject({ id: both.headers["webhook-id"] });
    const third = await rotate(0);
    const last = await next();
    await expect(verifyWebhook(last.headers, last.body, [second.publicKey, third.publicKey])).resolves.toBeTruthy();
    await expect(verifyWebhook(last.headers, last.body, [second.secret!, second.publicKey])).rejects.toThrow("No signature");
    expect([endpoint.secret, second.secret!, third.secret!].map((one) => accepts(one, last))).toEqual([false, false, true]);
  });
});

describe("failures", () => {
  test("an endpoint that fails gets the message again with the same id, until a success", async () => {
    const endpoint = await newEndpoint(receiver, status(500, {}, "broken"));
    const id = endpoint.webhookEndpointId;
    await addPayments(endpoint.organizationId, 1);
    await workUntil(async () => (await endpointRow(id))?.failingSince !== null);
    const [failed] = await deliveryRows(id);
    expect(failed).toMatchObject({ status: "pending", responseStatus: 500, responseBody: "broken", error: "It answered 500." });
    receiver.answer(endpoint.path, null);
    await setDue(id);
    await workUntil(async () => (await deliveryRows(id))[0]?.status === "delivered");
    const [first, second] = receiver.at(endpoint.path);
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    await workUntil(async () => (await endpointRow(id))?.failingSince === null);
  });

  test("a redirect is not followed", async () => {
    const other = receiver.newPath();
    const endpoint = await newEndpoint(receiver, status(302, { location: receiver.url(other) }));
    await addPayments(endpoint.organizationId, 1);
    await workUntil(async () => (await deliveryRows(endpoint.webhookEndpointId))[0]?.responseStatus === 302);
    expect(receiver.at(other)).toEqual([]);
  });

  test("410 disables the endpoint at once, with an event and a mail; when it is enabled again, it gets the events that it missed", async () => {
    const endpoint = await newEndpoint(receiver, status(410));
    const { webhookEndpointId: id, organizationId, path } = endpoint;
    await addPayments(organizationId, 1);
    await workUntil(async () => (await endpointRow(id))?.status === "disabled");
    expect((await eventsAbout(id)).map(({ type }) => type)).toEqual(["webhookEndpoint.created", "webhookEndpoint.disabled"]);
    expect((await mailsTo(endpoint.owner.email)).map(({ subject }) => subject)).toContain("A webhook endpoint was disabled");
    await addPayments(organizationId, 3);
    receiver.answer(path, null);
    await changeRow(id, { status: "enabled" });
    await setDue(id);
    await workUntil(async () => (await deliveryRows(id)).filter((row) => row.status === "delivered").length === 4);
  });

  test("five days without a success disable an endpoint, but failures of a single event never do", async () => {
    const long = new Date(Date.now() - 6 * DAY_MS);
    const failing = async (events: number) => {
      const endpoint = await newEndpoint(receiver, status(500));
      await changeRow(endpoint.webhookEndpointId, { failingSince: long });
      await addPayments(endpoint.organizationId, events);
      const failed = async () =>
        (await deliveryRows(endpoint.webhookEndpointId)).filter(({ error }) => error !== null).length === events;
      await workUntil(failed);
      return (await endpointRow(endpoint.webhookEndpointId))?.status;
    };
    expect(await failing(1)).toBe("enabled");
    expect(await failing(2)).toBe("disabled");
  });

  test("an endpoint that does not answer delays no other one, and an endpoint that fails gets few events", async () => {
    const hanging = await newEndpoint(receiver, () => {});
    const failing = await newEndpoint(receiver, status(503));
    for (const { organizationId } of [hanging, failing]) await addPayments(organizationId, 100);
    await workUntil(() => receiver.at(hanging.path).length > 0);
    const well = await newEndpoint(receiver);
    await addPayments(well.organizationId, 100);
    await workUntil(async () => (await deliveryRows(well.webhookEndpointId)).length === 100);
    await workUntil(() => new Set(receiver.at(well.path).map(({ headers }) => headers["webhook-id"])).size === 100);
    // The first 32 messages (WIDTH) start before the endpoint is known to fail. Then it has more than the 20 pending deliveries
    // that a failing endpoint may have (openFailingMax), so no more are started. The limit of 36 leaves room for four.
    for (const one of [hanging, failing]) expect((await deliveryRows(one.webhookEndpointId)).length).toBeLessThanOrEqual(36);
  });
});

test("a delivery is reserved until the slowest message has an answer and the turns that store it have begun", async () => {
  const answers: (() => void)[] = [];
  const endpoint = await newEndpoint(receiver, (_, response) => void answers.push(() => response.end()));
  await addPayments(endpoint.organizationId, 1);
  await workUntil(() => answers.length === 1);
  const [row] = await deliveryRows(endpoint.webhookEndpointId);
  for (const answer of answers) answer();
  expect(Number(row?.nextAttemptAt) - Number(row?.lastAttemptAt)).toBeGreaterThan(onceMsMax(sendLimits) + TURN_MS);
});

test("processes share the work; if one is killed between sending and storing the result, no event is lost", async () => {
  const held: (() => void)[] = [];
  let isHolding = true;
  const endpoint = await newEndpoint(receiver, (_, response) => {
    if (isHolding) held.push(() => response.end());
    else response.end();
  });
  const { webhookEndpointId: id, organizationId, path } = endpoint;
  await addPayments(organizationId, 60);
  const start = () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "../../test/helpers/webhooks-process.ts")], {
      stdio: "inherit",
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const killed = start();
  await expect.poll(() => receiver.at(path).length).toBeGreaterThan(0);
  const gone = new Promise((resolve) => killed.once("exit", resolve));
  killed.kill("SIGKILL");
  await gone;
  isHolding = false;
  for (const release of held) release();
  const before = (await deliveryRows(id)).filter((row) => row.status === "pending").map(({ eventId }) => eventId);
  expect(before.length).toBeGreaterThan(0);
  await setDue(id);
  start();
  await workUntil(async () => (await deliveryRows(id)).filter((row) => row.status === "delivered").length === 60);
  const ids = receiver.at(path).map(({ headers }) => headers["webhook-id"]);
  expect(new Set(ids).size).toBe(60);
  const twice = ids.filter((one, at) => ids.indexOf(one) !== at);
  expect(twice.filter((one) => !before.includes(one))).toEqual([]);

  // The second process has the secret in its cache. After the reply to the rotation, it must not sign with the old secret any
  // more; after the reply to the deletion, it must not send anything more to this endpoint.
  const as = endpoint.owner.credential;
  const { data } = await send(contract.rotateWebhookSecret, rotateWebhookSecret, { id, as, body: { gracePeriodSeconds: 0 } });
  await addPayments(organizationId, 20);
  await expect.poll(() => new Set(receiver.at(path).map(({ headers }) => headers["webhook-id"])).size).toBe(80);
  const later = receiver.at(path).filter(({ headers }) => !ids.includes(headers["webhook-id"]));
  const signedBy = (secret: string) => new Set(later.map((message) => accepts(secret, message)));
  expect([signedBy(endpoint.secret), signedBy(data.secret!)]).toEqual([new Set([false]), new Set([true])]);
  const other = await newEndpoint(receiver);
  const count = receiver.at(path).length;
  expect((await send(contract.deleteWebhookEndpoint, deleteWebhookEndpoint, { id, as, body: {} })).status).toBe(200);
  await addPayments(organizationId, 20);
  await addPayments(other.organizationId, 1);
  await expect.poll(() => receiver.at(other.path).length).toBe(1);
  expect(receiver.at(path).length).toBe(count);
});
