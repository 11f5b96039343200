import webPush from "web-push";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { deleteInBatches } from "#lib/db/delete-in-batches.ts";
import { provenHosts, workFairly } from "#lib/http/fair-work.ts";
import { installedFetch, standardLimits, type GuardedFetch } from "#lib/outbound/guarded-fetch.ts";
import { isProblem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";
import { deleteDevice, noteDevice } from "#lib/push/device-store.ts";
import {
  addressOf,
  deleteOldPushes,
  endPush,
  hasDuePush,
  leaseDuePush,
  postponePush,
  type PushAddress,
  type PushRow,
} from "#lib/push/store.ts";
import { vapid, type Vapid } from "#lib/push/vapid.ts";
import { log } from "#lib/telemetry/log.ts";
import { minutes } from "#lib/time.ts";

const BATCH = 64;
const AT_ONCE = 16;
/** The places of one organization, so that its slow devices do not delay the messages of others. */
const EACH = 4;
/** The places of one push service that answers; one that does not gets a single place. */
const OF_HOST = 8;
const ATTEMPTS_MAX = 6;
/** A worker reserves a message for this time: longer than waiting, connecting, 3 s for the answer and 5 s for its body. */
const LEASE_MS = minutes(1);
const KEPT_DAYS = 30;

/** In milliseconds: 2 s, 4 s, 8 s and so on; the six attempts take about a minute. */
const pauseAfter = (attempts: number): number => 1_000 * 2 ** attempts;

/** Called right before sending, because the message may have waited; null if the message must not be sent any more. */
export type MessageOf = (push: PushRow) => Promise<Readonly<Record<string, unknown>> | null>;

/** Separate from the client for sellers, so that slow push services do not use up that client's connections. */
const client = (): GuardedFetch =>
  perProcess("push/send-pushes", () => installedFetch({ ...standardLimits, bodyBytes: 16 * 1024 }));

const hosts = () => perProcess("push/send-pushes hosts", () => provenHosts(OF_HOST));

export async function sendPushes(messageOf: MessageOf): Promise<number> {
  const key = vapid();
  if (key === null || !(await hasDuePush())) return 0;
  const { placesOf } = hosts();
  return workFairly({
    atOnce: AT_ONCE,
    each: EACH,
    batch: BATCH,
    placesOf,
    lease: (full) => leaseDuePush(LEASE_MS, full),
    keysOf: ({ organizationId, host }) => ({ owner: organizationId, host }),
    work: (push) => sendOne(push, messageOf, key),
  });
}

async function sendOne(push: PushRow & { readonly host: string }, messageOf: MessageOf, key: Vapid): Promise<void> {
  const [now, address] = [await clock(database()), await addressOf(push.deviceId)];
  const isSent = push.usefulUntil > now && push.attempts <= ATTEMPTS_MAX;
  const message = isSent ? await messageOf(push) : null;
  if (!address || !message) {
    await endPush(push.pushId, "failed");
    return;
  }
  const ttl = Math.ceil((push.usefulUntil.getTime() - now.getTime()) / 1_000);
  const status = await statusOf(push, address, { key, ttl, text: JSON.stringify(message) });
  const accepted = status !== null && status >= 200 && status < 300;
  hosts().note(push.host, accepted);
  await noteDevice(database(), push.deviceId, accepted);
  if (accepted) await endPush(push.pushId, "accepted");
  else if (status === 404 || status === 410) await deleteDevice(database(), push.deviceId);
  else await retryOrGiveUp(push, status);
}

type Sending = { readonly key: Vapid; readonly ttl: number; readonly text: string };

/** Null without an answer; 400 also means that the HTTP client refused the address or the answer. */
async function statusOf(
  push: PushRow,
  { endpoint, p256dh, auth }: PushAddress,
  { key, ttl, text }: Sending,
): Promise<number | null> {
  try {
    const { headers, body } = webPush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, text, {
      vapidDetails: key,
      TTL: ttl,
      urgency: "high",
      // The push service replaces a message that the device has not received yet by the next message about the same checkout.
      ...(push.checkoutIntentId !== null && { topic: push.checkoutIntentId.slice(-32) }),
    });
    const reply = await client().once(endpoint, { method: "POST", message: { headers: headersOf(headers), body } });
    return reply?.status ?? null;
  } catch (error) {
    log().warn({ pushId: push.pushId, host: new URL(endpoint).host, err: error }, "A push service could not be asked");
    return isProblem(error) && error.code === "storefront_invalid" ? 400 : null;
  }
}

const headersOf = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));

/** No answer, 429 and 5xx may be temporary; any other answer is final. */
async function retryOrGiveUp({ pushId, attempts }: PushRow, status: number | null): Promise<void> {
  const final = status !== null && status !== 429 && status < 500;
  const given = final || attempts >= ATTEMPTS_MAX;
  log().warn({ pushId, attempts, status }, given ? "A message to a device was given up" : "A message to a device is tried again");
  await (given ? endPush(pushId, "failed") : postponePush(pushId, pauseAfter(attempts)));
}

export const forgetOldPushes = (): Promise<number> => deleteInBatches((rows) => deleteOldPushes(KEPT_DAYS, rows));
