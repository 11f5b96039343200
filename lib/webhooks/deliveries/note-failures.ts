import { audit, clock, transact } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { quoted } from "#lib/mail/compose.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { queueMail } from "#lib/mail/queue-mail.ts";
import { disabledBy, isDelivered, pauseAfter } from "#lib/webhooks/deliveries/attempt.ts";
import { failedEventsSince, noteFailed, type Answered } from "#lib/webhooks/deliveries/store.ts";
import { changeEndpoint, lockEndpointOfAny, managersOf, type EndpointRow } from "#lib/webhooks/endpoint-store.ts";

/** Stores the failures and the times of the next attempts, and disables the endpoint if `disabledBy` says so. */
export const noteFailures = (webhookEndpointId: string, answered: readonly Answered[]): Promise<void> =>
  transact(async (tx) => {
    const endpoint = await lockEndpointOfAny(tx, webhookEndpointId);
    if (!endpoint) return;
    const failures = answered.filter(({ answer }) => !isDelivered(answer));
    const noted = [];
    for (const one of failures)
      if (await noteFailed(tx, one, pauseAfter(one.delivery.attempts, Math.random()))) noted.push(one.answer);
    if (noted.length === 0) return;
    const now = await clock(tx);
    // A success among these answers starts the period of five days again, after which a failing endpoint is disabled.
    const failingSince = failures.length < answered.length ? now : (endpoint.failingSince ?? now);
    const failedEvents = await failedEventsSince(tx, webhookEndpointId, failingSince);
    const reasons = noted.flatMap((answer) => disabledBy(answer, { failingSince, failedEvents }, now) ?? []);
    await changeEndpoint(tx, webhookEndpointId, { failingSince, lastAttemptAt: now });
    if (reasons[0] !== undefined && endpoint.status === "enabled") await disable(tx, endpoint, reasons[0], now);
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
        "Events wait for it. When it is enabled again, it gets them in their order.",
      ],
      action: { label: "Open the endpoint", path: `/settings/webhooks/${webhookEndpointId}` },
      note: "You get this because you manage webhooks of this organization.",
    });
}
