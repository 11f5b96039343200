import type * as contract from "#lib/audit/contract.ts";
import { readEvents } from "#lib/audit/read-store.ts";
import { thinEvent } from "#lib/audit/thin-event.ts";
import type { Handler } from "#lib/http/operation.ts";

/** Events become visible in the order of their sequences, so a client that continues after the last one misses no event. */
export const listEvents: Handler<typeof contract.listEvents> = async (
  { query: { after, limit } },
  { caller: { organizationId } },
) => {
  const rows = await readEvents(organizationId, after, Number.MAX_SAFE_INTEGER, limit + 1);
  return { items: rows.slice(0, limit).map(thinEvent), hasMore: rows.length > limit };
};
