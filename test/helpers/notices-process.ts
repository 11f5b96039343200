/** A process that only tells people about requests for approval, until it is killed. */
import { setTimeout as pause } from "node:timers/promises";
import { followEvents } from "#lib/notices/follow-events.ts";
import { requestMessageOf } from "#lib/notices/push-requests.ts";
import { sendNotices } from "#lib/notices/send-notices.ts";
import { installedFetch, standardLimits } from "#lib/outbound/guarded-fetch.ts";
import { perProcess } from "#lib/process.ts";
import { sendPushes } from "#lib/push/send-pushes.ts";

// On a busy machine the push service of the test may be slow, and a message that got no answer in time would be sent twice.
perProcess("push/send-pushes", () => installedFetch({ ...standardLimits, connectMs: 20_000, headersMs: 20_000 }));

for (;;) {
  await followEvents();
  await sendNotices();
  await sendPushes(requestMessageOf);
  await pause(5);
}
