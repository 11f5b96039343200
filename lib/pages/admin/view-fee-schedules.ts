import { presentSchedule } from "#lib/billing/present.ts";
import { zeroRow } from "#lib/billing/schedule-facts.ts";
import { selectSchedules } from "#lib/billing/store.ts";
import { database } from "#lib/db/client.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";

/** Newest first; the built-in schedule is last. */
export async function viewAllSchedules(cursor: string | undefined, limit: number) {
  const rows = await selectSchedules(database(), null, decodeCursor(cursor), limit + 1);
  if (rows.length <= limit) rows.push(zeroRow);
  const { items, nextCursor } = page(rows, limit, ({ feeScheduleId }) => feeScheduleId);
  return { items: items.map(presentSchedule), nextCursor };
}
