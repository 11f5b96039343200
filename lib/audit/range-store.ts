import { sqlOf, type Tx } from "#lib/db/client.ts";

/** The events after the sequence `after`, up to and including `last`. */
export type EventRange = { readonly chain: string; readonly after: number; readonly last: number };

export type EventOfType = {
  readonly auditEventId: string;
  readonly type: string;
  readonly entityId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
};

/**
 * The inner ORDER BY and LIMIT make PostgreSQL use the index by log and sequence; another plan could read the whole log.
 * The metadata is read in a second step, because the view audit_events has to build it for each authorization.
 */
export async function eventsOfTypes(tx: Tx, ranges: readonly EventRange[], types: readonly string[]): Promise<EventOfType[]> {
  if (ranges.length === 0) return [];
  const rows = await sqlOf(tx)`
    SELECT e.audit_event_id, e.type, e.entity_id, m.metadata
    FROM unnest(${ranges.map(({ chain }) => chain)}::text[], ${ranges.map(({ after }) => String(after))}::bigint[],
      ${ranges.map(({ last }) => String(last))}::bigint[]) AS r (chain, after, last)
    CROSS JOIN LATERAL (
      SELECT sequence, audit_event_id, type, entity_id FROM audit_events
      WHERE chain = r.chain AND sequence > r.after AND sequence <= r.last
      ORDER BY sequence LIMIT r.last - r.after) AS e
    CROSS JOIN LATERAL (
      SELECT metadata::text AS metadata FROM audit_events WHERE chain = r.chain AND sequence = e.sequence LIMIT 1) AS m
    WHERE e.type = ANY(${[...types]}::text[])
    ORDER BY r.chain, e.sequence`;
  return rows.map((row) => ({
    auditEventId: String(row["audit_event_id"]),
    type: String(row["type"]),
    entityId: String(row["entity_id"]),
    metadata: JSON.parse(String(row["metadata"])) as Readonly<Record<string, unknown>>,
  }));
}
