/** A process that only tells people about requests, until it is killed. */
import { setTimeout as pause } from "node:timers/promises";
import { followEvents } from "#lib/notices/follow-events.ts";
import { sendNotices } from "#lib/notices/send-notices.ts";

for (;;) {
  await followEvents();
  await sendNotices();
  await pause(5);
}
