import type { ChainEvent } from "#lib/changes/change.ts";
import { pool } from "#lib/db/client.ts";
import { live } from "#lib/identity/live-store.ts";

/** The person whose browser receives a stream. Their role decides which kinds of changes the stream contains. */
export type Reader = { readonly sessionId: string; readonly organizationId: string; readonly role: string };

export type Place = { readonly chain: string; readonly sequence: number };

/** Null if the session is gone, the organization is not active in it, or the person is not a member. */
export async function readPlace(sessionId: string, organizationId: string) {
  const [row] = await pool()`
    SELECT m.role, coalesce(h.sequence, 0) AS sequence FROM session s
    JOIN member m ON m.user_id = s.user_id AND m.organization_id = s.active_organization_id
    LEFT JOIN audit_heads h ON h.chain = m.organization_id
    WHERE s.id = ${sessionId} AND m.organization_id = ${organizationId}`;
  return row ? { role: String(row["role"]), sequence: Number(row["sequence"]) } : null;
}

/** The audit logs with events after the given sequences, and the sequence of the last event of each. */
export async function grownSince(places: readonly Place[]): Promise<readonly Place[]> {
  const rows = await pool()`
    SELECT h.chain, h.sequence FROM unnest(${places.map(({ chain }) => chain)}::text[],
      ${places.map(({ sequence }) => String(sequence))}::bigint[]) AS p (chain, sequence)
    JOIN audit_heads h ON h.chain = p.chain AND h.sequence > p.sequence`;
  return rows.map((row) => ({ chain: String(row["chain"]), sequence: Number(row["sequence"]) }));
}

/** The inner ORDER BY and LIMIT make PostgreSQL use the index, as the planner cannot know how many events follow. */
export async function newestEvents(ends: readonly Place[], rows: number): Promise<ReadonlyMap<string, readonly ChainEvent[]>> {
  const found = await pool()`
    SELECT e.chain, e.sequence, e.type, coalesce(e.metadata ->> 'authorizationId', e.entity_id) AS id
    FROM unnest(${ends.map(({ chain }) => chain)}::text[], ${ends.map(({ sequence }) => String(sequence))}::bigint[]) AS p (chain, last)
    CROSS JOIN LATERAL (
      SELECT chain, sequence, type, entity_id, metadata FROM audit_events
      WHERE chain = p.chain AND sequence > p.last - ${rows} AND sequence <= p.last ORDER BY sequence LIMIT ${rows}) AS e
    ORDER BY e.chain, e.sequence`;
  const events = found.map((row) => ({
    chain: String(row["chain"]),
    sequence: Number(row["sequence"]),
    type: String(row["type"]),
    id: String(row["id"]),
  }));
  return Map.groupBy(events, ({ chain }) => chain);
}

/** Indexes of `readers` whose session ended, or who were banned or changed membership, role or active organization. */
export async function endedReaders(readers: readonly Reader[]): Promise<readonly number[]> {
  const c = pool();
  const rows = await c`
    SELECT r.place FROM unnest(${readers.map(({ sessionId }) => sessionId)}::text[],
      ${readers.map(({ organizationId }) => organizationId)}::text[], ${readers.map(({ role }) => role)}::text[])
      WITH ORDINALITY AS r (session_id, organization_id, role, place)
    LEFT JOIN LATERAL (
      SELECT true AS live FROM session s
      JOIN "user" u ON u.id = s.user_id
      JOIN member m ON m.user_id = s.user_id AND m.organization_id = s.active_organization_id
      WHERE s.id = r.session_id AND ${c.unsafe(live.session("s"))} AND s.active_organization_id = r.organization_id AND m.role = r.role
        AND ${c.unsafe(live.person("u"))}
      LIMIT 1) AS l ON true
    WHERE l.live IS NULL`;
  return rows.map((row) => Number(row["place"]) - 1);
}
