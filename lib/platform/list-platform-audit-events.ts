import { placeOf, presentEvent } from "#lib/audit/list-audit-events.ts";
import { listEvents, listEventsOfAll } from "#lib/audit/read-store.ts";
import type { Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import type * as contract from "#lib/platform/audit-contract.ts";

export const listPlatformAuditEvents: Handler<typeof contract.listPlatformAuditEvents> = async ({ query }) => {
  const { limit, cursor, chain, entityId } = query;
  if (chain === undefined) {
    const rows = await listEventsOfAll(entityId, decodeCursor(cursor), limit + 1);
    const { items, ...rest } = page(rows, limit, ({ auditEventId }) => auditEventId);
    return { items: items.map(presentEvent), ...rest };
  }
  const rows = await listEvents({ chain, entityId, before: placeOf(cursor), rows: limit + 1 });
  const { items, ...rest } = page(rows, limit, ({ sequence }) => String(sequence));
  return { items: items.map(presentEvent), ...rest };
};
