import { perProcess } from "#lib/process.ts";
import { log } from "#lib/telemetry/log.ts";
import { runEndpointSender } from "#lib/webhooks/deliveries/endpoint-sender.ts";
import { limits } from "#lib/webhooks/deliveries/lease-deliveries.ts";
import { endpointsWithWork } from "#lib/webhooks/deliveries/work-store.ts";

const SENDERS_MAX = 64;
/** A message to a failing endpoint can take fifteen seconds; the rest of SENDERS_MAX is for other endpoints. */
const FAILING_SENDERS_MAX = 16;

type Sender = { readonly isFailing: boolean; readonly ended: Promise<void> };
type Senders = { readonly running: Map<string, Sender>; isStopping: boolean };

const senders = (): Senders =>
  perProcess("webhooks/send-webhooks", () => ({ running: new Map<string, Sender>(), isStopping: false }));

/** Does not wait for the senders, so that no endpoint delays another. Returns how many senders were started. */
export async function sendWebhooks(): Promise<number> {
  const { running, isStopping } = senders();
  if (isStopping || running.size >= SENDERS_MAX) return 0;
  const found = await endpointsWithWork([...running.keys()], SENDERS_MAX - running.size, limits);
  let failing = [...running.values()].filter(({ isFailing }) => isFailing).length;
  let started = 0;
  for (const { webhookEndpointId, isFailing } of found) {
    if (isFailing && (failing += 1) > FAILING_SENDERS_MAX) break;
    started += 1;
    const ended = runEndpointSender(webhookEndpointId, isFailing, () => senders().isStopping)
      .catch((error: unknown) =>
        log().error({ webhookEndpointId, err: error }, "Sending the webhooks of an endpoint failed; it is tried again"),
      )
      .finally(() => running.delete(webhookEndpointId));
    running.set(webhookEndpointId, { isFailing, ended });
  }
  return started;
}

/** Begins no new messages, and waits for the messages that are being sent. */
export async function endWebhooks(): Promise<void> {
  senders().isStopping = true;
  await Promise.all([...senders().running.values()].map(({ ended }) => ended));
}
