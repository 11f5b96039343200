import { audit, clock, transact } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { inTurn } from "#lib/db/turns.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { quoted } from "#lib/mail/compose.ts";
import { queueMail } from "#lib/mail/queue-mail.ts";
import { perProcess } from "#lib/process.ts";
import { log } from "#lib/telemetry/log.ts";
import { disabledBy, isDelivered, pauseAfter, type Answer } from "#lib/webhooks/attempt.ts";
import {
  deleteOldDeliveries,
  failedEventsSince,
  noteDelivered,
  noteFailed,
  releaseAttempt,
  type DeliveryRow,
} from "#lib/webhooks/delivery-store.ts";
import {
  changeEndpoint,
  lockEndpoint,
  managersOf,
  noteSuccess,
  targetOf,
  type EndpointRow,
} from "#lib/webhooks/endpoint-store.ts";
import { leaseDeliveries, limits, type Begun } from "#lib/webhooks/lease-deliveries.ts";
import { sendMessage } from "#lib/webhooks/send-message.ts";
import { endpointsWithWork } from "#lib/webhooks/work-store.ts";

const LANES_MAX = 64;
/**
 * The most endpoints that fail and are served at the same time, because each of their messages can take fifteen seconds. The rest
 * of LANES_MAX is for other endpoints.
 */
const FAILING_LANES_MAX = 16;
/** The most batches that one endpoint gets in a row. After these, another endpoint may be served. */
const BATCHES_MAX = 50;
const KEPT_DAYS = 30;
const FORGOTTEN_AT_ONCE = 1_000;

type Lane = { readonly isFailing: boolean; readonly ended: Promise<void> };
type Lanes = { readonly running: Map<string, Lane>; isStopping: boolean; turns: number };

const lanes = (): Lanes => perProcess("webhookLanes", () => ({ running: new Map<string, Lane>(), isStopping: false, turns: 0 }));

/** The most database connections for all endpoints together, so that requests always find a free one. */
const CONNECTIONS = 4;
const TURN_MS = 30_000;

function withConnection<T>(work: () => Promise<T>): Promise<T> {
  lanes().turns = (lanes().turns + 1) % CONNECTIONS;
  return inTurn(`webhooks ${lanes().turns}`, work, { waitMs: TURN_MS });
}

/**
 * Starts a lane for each endpoint with messages: a loop that sends this endpoint's messages. It does not wait for the lanes, so
 * an endpoint that does not answer delays no other one. Returns how many were started.
 */
export async function sendWebhooks(): Promise<number> {
  const { running, isStopping } = lanes();
  if (isStopping || running.size >= LANES_MAX) return 0;
  const found = await endpointsWithWork([...running.keys()], LANES_MAX - running.size, limits);
  let failing = [...running.values()].filter(({ isFailing }) => isFailing).length;
  let started = 0;
  for (const { webhookEndpointId, isFailing } of found) {
    if (isFailing && (failing += 1) > FAILING_LANES_MAX) break;
    started += 1;
    const ended = runLane(webhookEndpointId)
      .catch((error: unknown) => log().error({ webhookEndpointId, err: error }, "A webhook lane failed; it goes on"))
      .finally(() => running.delete(webhookEndpointId));
    running.set(webhookEndpointId, { isFailing, ended });
  }
  return started;
}

/** Begins no new messages, and waits for those that are being sent. */
export async function endWebhooks(): Promise<void> {
  lanes().isStopping = true;
  await Promise.all([...lanes().running.values()].map(({ ended }) => ended));
}

async function runLane(webhookEndpointId: string): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX && !lanes().isStopping; batch += 1) {
    const begun = await withConnection(() => leaseDeliveries(webhookEndpointId));
    if (begun.length === 0) return;
    // If the result of an attempt cannot be stored, the delivery is tried again after its lease, and the other deliveries go on.
    const noteError = (error: unknown) => log().error({ webhookEndpointId, err: error }, "A webhook delivery was not noted");
    await Promise.all(begun.map((one) => sendOne(one).catch(noteError)));
  }
}

/** Sends one message. It reads the secrets right before that, so that a revoked secret signs nothing. */
async function sendOne(begun: Begun): Promise<void> {
  const { delivery } = begun;
  const target = await withConnection(() => targetOf(delivery.webhookEndpointId));
  if (!target) return withConnection(() => releaseAttempt(delivery));
  const answer = await sendMessage(begun, target);
  if (!isDelivered(answer)) return withConnection(() => fail(delivery, answer));
  await withConnection(async () => {
    await noteDelivered(delivery, answer);
    await noteSuccess(delivery.webhookEndpointId);
  });
}

const fail = (delivery: DeliveryRow, answer: Answer): Promise<void> =>
  transact(async (tx) => {
    const { organizationId, webhookEndpointId, attempts } = delivery;
    const endpoint = await lockEndpoint(tx, organizationId, webhookEndpointId);
    if (!endpoint || !(await noteFailed(tx, delivery, answer, pauseAfter(attempts, Math.random())))) return;
    const now = await clock(tx);
    const failingSince = endpoint.failingSince ?? now;
    const failedEvents = await failedEventsSince(tx, webhookEndpointId, failingSince);
    const disabledReason = disabledBy(answer, { failingSince, failedEvents }, now);
    await changeEndpoint(tx, webhookEndpointId, { failingSince, lastAttemptAt: now });
    if (disabledReason !== null && endpoint.status === "enabled") await disable(tx, endpoint, disabledReason, now);
  });

async function disable(
  tx: Tx,
  { organizationId, webhookEndpointId, url }: EndpointRow,
  reason: string,
  now: Date,
): Promise<void> {
  await changeEndpoint(tx, webhookEndpointId, { status: "disabled", disabledReason: reason });
  const event = { actorId: "service", organizationId, entityType: "webhookEndpoint", entityId: webhookEndpointId };
  audit(tx, { ...event, type: "webhookEndpoint.disabled", metadata: { reason } }, now);
  const managers = (await managersOf(tx, organizationId)).filter((one) => one.emailVerified || mailDelivery() !== "smtp");
  for (const { email } of managers)
    await queueMail(tx, {
      to: email,
      subject: "A webhook endpoint was disabled",
      paragraphs: [
        `No more events are sent to ${quoted(new URL(url).host)}. ${reason}`,
        "Events wait for it: once it is enabled again, it gets them in turn.",
      ],
      action: { label: "Open the endpoint", path: `/settings/webhooks/${webhookEndpointId}` },
      note: "You get this because you manage webhooks of this organization.",
    });
}

/** Deletes deliveries that ended and are older than 30 days. Returns how many were deleted. */
export async function forgetOldDeliveries(): Promise<number> {
  let gone = 0;
  for (;;) {
    const now = await deleteOldDeliveries(KEPT_DAYS, FORGOTTEN_AT_ONCE);
    gone += now;
    if (now < FORGOTTEN_AT_ONCE) return gone;
  }
}
