import { installedFetch, type GuardedFetch } from "#lib/outbound/guarded-fetch.ts";
import { isProblem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";
import type { Answer } from "#lib/webhooks/deliveries/attempt.ts";
import type { Begun } from "#lib/webhooks/deliveries/lease-deliveries.ts";
import { sendLimits } from "#lib/webhooks/limits.ts";
import { signedHeaders, signerOf } from "#lib/webhooks/secrets.ts";

/** The most messages of this process to one endpoint that wait for an answer at the same time. */
export const WIDTH = 32;
const ANSWER_BYTES = 512;
/** WIDTH already limits each endpoint; this is only a second protection. */
const CONCURRENCY = { most: 2_048, each: 2_048, kept: 0 };
/** After this time, messages use new connections, so that the domain's addresses are looked up and checked again. */
const LOOKED_UP_MS = 30_000;

const client = (): GuardedFetch =>
  perProcess("webhooks/deliveries/send-message", () =>
    installedFetch({
      ...sendLimits,
      bodyBytes: ANSWER_BYTES,
      cutsBody: true,
      redirects: 0,
      places: { total: CONCURRENCY, host: CONCURRENCY, waiting: CONCURRENCY, waitingForHost: CONCURRENCY },
      // If a kept connection breaks before an answer, the message is sent once more; both copies have the same id.
      kept: { each: WIDTH, pairs: 256, lifeMs: LOOKED_UP_MS },
    }),
  );

/** Replaces control characters: PostgreSQL cannot store NUL, and pages must not show the others. */
const textOf = (body: Uint8Array | null): string | null =>
  body === null ? null : new TextDecoder().decode(body).replaceAll(/\p{Cc}/gu, " ");

const failed = (error: string): Answer => ({ status: null, body: null, error, durationMs: 0 });

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? `It answered ${status}, and redirects are not followed.` : `It answered ${status}.`;
}

/** Returns each failure as an answer with an `error`. */
export async function sendMessage({ delivery, body, target }: Begun): Promise<Answer> {
  if (body === null) return failed("The event cannot be read.");
  const { webhookEndpointId, eventId: id } = delivery;
  const { url, sealed, previous, timestamp } = target;
  const newest = signerOf(sealed, webhookEndpointId);
  if (!newest) return failed("The secrets of this endpoint cannot be read any more. Rotate them.");
  const older = previous === null ? null : signerOf(previous, webhookEndpointId);
  const signed = signedHeaders(older ? [newest, older] : [newest], { id, timestamp, body });
  const headers = { ...signed, "content-type": "application/json" };
  const started = performance.now();
  try {
    const reply = await client().once(url, { method: "POST", user: webhookEndpointId, message: { headers, body } });
    const durationMs = Math.round(performance.now() - started);
    if (!reply) return { ...failed("It did not answer in time."), durationMs };
    return { status: reply.status, body: textOf(reply.body), error: errorOf(reply.status), durationMs };
  } catch (error) {
    const durationMs = Math.round(performance.now() - started);
    const detail = isProblem(error) ? error.details.detail : undefined;
    return { ...failed(detail ?? "The message could not be sent."), durationMs };
  }
}
