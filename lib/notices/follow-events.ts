import { eventsOfTypes, type EventOfType } from "#lib/audit/range-store.ts";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { grownChains, lockCursors, moveCursors, requestsOf } from "#lib/notices/cursor-store.ts";
import { insertNotices } from "#lib/notices/notice-store.ts";
import { openingTypes, planNotices, type OpeningEvent } from "#lib/notices/plan-notices.ts";

const CHAINS = 100;
const EVENTS = 500;

/** Reads the new events of each audit chain once and plans the notices about requests that they opened. Returns how many were planned. */
export async function followEvents(): Promise<number> {
  let planned = 0;
  let place = "";
  for (;;) {
    const chains = await grownChains(database(), place, CHAINS);
    if (chains.length > 0) planned += await follow(chains);
    place = chains.at(-1) ?? "";
    if (chains.length < CHAINS) return planned;
  }
}

function opening({ metadata, ...event }: EventOfType): OpeningEvent[] {
  const named = event.type === "checkout.previewed" ? event.entityId : metadata["checkoutIntentId"];
  return typeof named === "string" ? [{ ...event, checkoutIntentId: named }] : [];
}

/** The notices and the cursors are saved together, so that every event is used exactly once. */
const follow = (chains: readonly string[]): Promise<number> =>
  database().transaction(async (tx) => {
    const ranges = await lockCursors(tx, chains, EVENTS);
    if (ranges.length === 0) return 0;
    const events = (await eventsOfTypes(tx, ranges, openingTypes)).flatMap(opening);
    const requests = await requestsOf(tx, events);
    const now = await clock(tx);
    const planned = events.flatMap((event) => planNotices(event, requests.get(event.checkoutIntentId), now));
    await insertNotices(tx, planned);
    await moveCursors(tx, ranges);
    return planned.length;
  });
