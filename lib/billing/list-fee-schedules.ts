import type * as contract from "#lib/billing/contract.ts";
import { presentScheduleTo } from "#lib/billing/present.ts";
import { zeroRow } from "#lib/billing/schedule-facts.ts";
import { selectSchedules } from "#lib/billing/store.ts";
import { database } from "#lib/db/client.ts";
import { listedReply, type Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";

/** Newest first; the built-in schedule counts as the oldest one, so it is the last item of the last page. */
export const listFeeSchedules: Handler<typeof contract.listFeeSchedules> = async ({ query }, { caller }) => {
  const all = caller.kind === "session" && caller.platformCapabilities.has("platform.feeSchedules.manage");
  const place = decodeCursor(query.cursor);
  const viewer = all ? null : caller.organizationId;
  const rows = await selectSchedules(database(), viewer, place, query.limit + 1);
  if (rows.length <= query.limit) rows.push(zeroRow);
  const { items, nextCursor } = page(rows, query.limit, (row) => row.feeScheduleId);
  return listedReply({ items: items.map((row) => presentScheduleTo(viewer, row)) }, nextCursor ?? null);
};
