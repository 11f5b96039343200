/** A process that only tells people about requests for approval, until it is killed. */
import { setTimeout as pause } from "node:timers/promises";
import { followEvents } from "#lib/notices/follow-events.ts";
import { requestMessageOf } from "#lib/notices/push-requests.ts";
import { sendNotices } from "#lib/notices/send-notices.ts";
import { sendPushes } from "#lib/push/send-pushes.ts";

for (;;) {
  await followEvents();
  await sendNotices();
  await sendPushes(requestMessageOf);
  await pause(5);
}
