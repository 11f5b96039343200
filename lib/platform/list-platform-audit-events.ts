import { placeOf, presentEvent } from "#lib/audit/list-audit-events.ts";
import { selectEvents, listEventsOfAll } from "#lib/audit/read-store.ts";
import type { Handler, Input } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import type * as contract from "#lib/platform/contract.ts";

type Query = Input<typeof contract.listPlatformAuditEvents>["query"];

export async function readAllEvents(query: Query) {
  const { limit, cursor, chain, entityId } = query;
  if (chain === undefined) {
    const rows = await listEventsOfAll(entityId, decodeCursor(cursor), limit + 1);
    const { items, ...rest } = page(rows, limit, ({ auditEventId }) => auditEventId);
    return { items: items.map(presentEvent), ...rest };
  }
  const rows = await selectEvents({ chain, entityId, place: placeOf(cursor), rows: limit + 1 });
  const { items, ...rest } = page(rows, limit, ({ sequence }) => String(sequence));
  return { items: items.map(presentEvent), ...rest };
}

export const listPlatformAuditEvents: Handler<typeof contract.listPlatformAuditEvents> = ({ query }) => readAllEvents(query);
