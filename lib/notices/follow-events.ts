import { eventsOfTypes, followLogs, type EventOfType, type EventRange } from "#lib/audit/cursor.ts";
import { clock } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { insertNotices, requestsOf } from "#lib/notices/rows/notice-store.ts";
import { openingTypes, planNotices, type OpeningEvent } from "#lib/notices/plan-notices.ts";

/** Returns the number of planned notices. */
export const followEvents = (): Promise<number> => followLogs({ cursors: "notice_cursors", events: 1_000, read });

function opening({ metadata, ...event }: EventOfType): OpeningEvent[] {
  const named = event.type === "checkout.previewed" ? event.entityId : metadata["checkoutIntentId"];
  return typeof named === "string" ? [{ ...event, checkoutIntentId: named }] : [];
}

async function read(tx: Tx, ranges: readonly EventRange[]): Promise<number> {
  const events = (await eventsOfTypes(tx, ranges, openingTypes)).flatMap(opening);
  const requests = await requestsOf(tx, events);
  const now = await clock(tx);
  const planned = events.flatMap((event) => planNotices(event, requests.get(event.checkoutIntentId), now));
  await insertNotices(tx, planned);
  return planned.length;
}
