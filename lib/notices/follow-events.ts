import { eventsOfTypes, type EventOfType } from "#lib/audit/range-store.ts";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { grownChains, lockCursors, moveCursors, requestsOf } from "#lib/notices/rows/cursor-store.ts";
import { insertNotices } from "#lib/notices/rows/notice-store.ts";
import { openingTypes, planNotices, type OpeningEvent } from "#lib/notices/plan-notices.ts";

const CHAINS = 50;
const EVENTS = 1_000;
/** The most passes over all audit logs in one run. If more events are left, the next run reads them. */
const PASSES_MAX = 20;

/** Returns the number of planned notices. */
export async function followEvents(): Promise<number> {
  let planned = 0;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const { count, isBehind } = await followAll();
    planned += count;
    if (!isBehind) break;
  }
  return planned;
}

/** `isBehind`: a chain may have more new events than the EVENTS that one pass reads. */
type Followed = { readonly count: number; readonly isBehind: boolean };

async function followAll(): Promise<Followed> {
  let [count, isBehind, place] = [0, false, ""];
  for (;;) {
    const chains = await grownChains(database(), place, CHAINS);
    if (chains.length > 0) {
      const part = await follow(chains);
      count += part.count;
      isBehind ||= part.isBehind;
    }
    place = chains.at(-1) ?? "";
    if (chains.length < CHAINS) return { count, isBehind };
  }
}

function opening({ metadata, ...event }: EventOfType): OpeningEvent[] {
  const named = event.type === "checkout.previewed" ? event.entityId : metadata["checkoutIntentId"];
  return typeof named === "string" ? [{ ...event, checkoutIntentId: named }] : [];
}

/** Saves the notices and the cursors in one transaction, so that no event is skipped or read twice. */
const follow = (chains: readonly string[]): Promise<Followed> =>
  database().transaction(async (tx) => {
    const ranges = await lockCursors(tx, chains, EVENTS);
    if (ranges.length === 0) return { count: 0, isBehind: false };
    const events = (await eventsOfTypes(tx, ranges, openingTypes)).flatMap(opening);
    const requests = await requestsOf(tx, events);
    const now = await clock(tx);
    const planned = events.flatMap((event) => planNotices(event, requests.get(event.checkoutIntentId), now));
    await insertNotices(tx, planned);
    await moveCursors(tx, ranges);
    return { count: planned.length, isBehind: ranges.some(({ after, last }) => last - after === EVENTS) };
  });
