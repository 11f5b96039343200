/** A process that only sends webhooks, until it is killed. */
import { setTimeout as pause } from "node:timers/promises";
import { sendWebhooks } from "#lib/webhooks/send-webhooks.ts";

for (;;) {
  await sendWebhooks();
  await pause(5);
}
