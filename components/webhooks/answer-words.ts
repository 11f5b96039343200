import type { WebhookDelivery } from "#lib/webhooks/contract.ts";

type Answered = Pick<WebhookDelivery, "error" | "responseStatus" | "durationMs">;

/** "200 in 84 ms", or why the last attempt failed. Empty before the first attempt. */
export function answerWords({ error, responseStatus, durationMs }: Answered): string {
  if (error !== undefined) return error;
  if (responseStatus === undefined) return "";
  return durationMs === undefined ? String(responseStatus) : `${responseStatus} in ${durationMs} ms`;
}
