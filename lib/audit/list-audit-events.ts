import type { ChainedEvent } from "#lib/audit/chain.ts";
import type { AuditEvent } from "#lib/audit-event.ts";
import type * as contract from "#lib/audit/contract.ts";
import { selectEvents } from "#lib/audit/read-store.ts";
import type { Handler } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import { invalidField } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";

export function presentEvent(event: ChainedEvent): AuditEvent {
  const { auditEventId, type, actorId, organizationId, subjectId, entityType, entityId, metadata, hash, createdAt } = event;
  const { commitments, salts } = event;
  return {
    auditEventId,
    type,
    actorId,
    ...(organizationId !== null && { organizationId }),
    ...(subjectId !== null && { subjectId }),
    entityType,
    entityId,
    metadata,
    ...(commitments && { commitments }),
    ...(salts && { salts }),
    hash,
    createdAt: toWire(createdAt),
  };
}

/** @throws Problem invalid_request */
export function placeOf(cursor: string | undefined): number | null {
  const place = decodeCursor(cursor);
  if (place === null) return null;
  if (!/^[1-9][0-9]{0,14}$/.test(place)) throw invalidField("/query/cursor", "This cursor did not come from this list.");
  return Number(place);
}

export const listAuditEvents: Handler<typeof contract.listAuditEvents> = async (
  { query: { limit, cursor, entityId } },
  { caller: { organizationId } },
) => {
  const place = placeOf(cursor);
  const rows = await selectEvents({ chain: organizationId, entityId, place, rows: limit + 1 });
  const { items, ...rest } = page(rows, limit, (event) => String(event.sequence));
  return { items: items.map(presentEvent), ...rest };
};
