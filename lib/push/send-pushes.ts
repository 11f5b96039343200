import webPush from "web-push";
import { database } from "#lib/db/client.ts";
import { installedFetch, standardLimits, type GuardedFetch } from "#lib/outbound/guarded-fetch.ts";
import { sendDue, type Sent } from "#lib/outbox/send-due.ts";
import { isProblem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";
import { deleteDevice, noteDevice } from "#lib/push/device-store.ts";
import { pushAddressOf, devices, pushbox, type PushAddress, type PushRow } from "#lib/push/store.ts";
import { vapid, type Vapid } from "#lib/push/vapid.ts";
import { log } from "#lib/telemetry/log.ts";
import { minutes } from "#lib/time.ts";

/** An organization's slow devices must not delay the messages of others, nor a push service that does not answer. */
const pace = {
  batch: 64,
  atOnce: 16,
  each: 4,
  ofHost: 8,
  // Longer than waiting, connecting, 3 s for the answer and 5 s for its body.
  leaseMs: minutes(1),
  attemptsMax: 6,
} as const;

/** In milliseconds: 2 s, 4 s, 8 s and so on; the six attempts take about a minute. */
const pauseAfter = (attempts: number): number => 1_000 * 2 ** attempts;

/** Called right before sending, because the message may have waited; null if the message must not be sent any more. */
export type MessageOf = (push: PushRow) => Promise<Readonly<Record<string, unknown>> | null>;

/** Separate from the client for sellers, so that slow push services do not use up that client's connections. */
const client = (): GuardedFetch =>
  perProcess("push/send-pushes", () => installedFetch({ ...standardLimits, bodyBytes: 16 * 1024 }));

export async function sendPushes(messageOf: MessageOf): Promise<number> {
  const key = vapid();
  if (key === null) return 0;
  const send = (push: PushRow & { readonly leasedAt: Date }) => sendOne(push, messageOf, key);
  return sendDue({ outbox: pushbox, receivers: devices, accepted: "accepted", ...pace, pauseAfter, send });
}

/** No answer, 429 and 5xx may be temporary; any other answer is final, and 404 and 410 mean that the device is gone. */
async function sendOne(push: PushRow & { readonly leasedAt: Date }, messageOf: MessageOf, key: Vapid): Promise<Sent> {
  const [address, message] = [await pushAddressOf(push.deviceId), await messageOf(push)];
  if (!address || !message) return { outcome: "unwanted" };
  const ttl = Math.ceil((push.usefulUntil.getTime() - push.leasedAt.getTime()) / 1_000);
  const status = await statusOf(push, address, { key, ttl, text: JSON.stringify(message) });
  const isAccepted = status !== null && status >= 200 && status < 300;
  await noteDevice(database(), push.deviceId, isAccepted);
  if (isAccepted) return { outcome: "accepted" };
  const isGone = status === 404 || status === 410;
  if (isGone) await deleteDevice(database(), push.deviceId);
  const isFinal = status !== null && status !== 429 && status < 500;
  return { outcome: isFinal ? "refused" : "unanswered", ...(!isGone && { facts: { status } }) };
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
