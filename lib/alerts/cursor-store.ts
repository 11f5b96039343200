import { sql } from "drizzle-orm";
import { SIGNED } from "#lib/audit/checkpoint-store.ts";
import type { EventRange } from "#lib/audit/range-store.ts";
import { sqlOf, database, type Tx } from "#lib/db/client.ts";

/** The name of an organization's audit log, in `chain`, is the id of the organization. */
export async function grownChains(place: string, rows: number): Promise<readonly string[]> {
  const found = await database().execute<{ chain: string }>(sql`
    SELECT h.chain FROM audit_heads h LEFT JOIN alert_cursors c ON c.chain = h.chain
    WHERE h.chain > ${place} AND h.chain NOT IN (${SIGNED}, 'platform') AND h.sequence > coalesce(c.sequence, 0)
    ORDER BY h.chain LIMIT ${rows}`);
  return found.map(({ chain }) => chain);
}

/** Returns null if another transaction holds the lock, or if no event is left. */
export async function lockCursor(tx: Tx, chain: string, events: number): Promise<EventRange | null> {
  await sqlOf(tx)`INSERT INTO alert_cursors (chain, sequence) VALUES (${chain}, 0) ON CONFLICT DO NOTHING`;
  const [row] = await sqlOf(tx)`
    SELECT c.sequence AS after, least(h.sequence, c.sequence + ${events}::bigint) AS last
    FROM alert_cursors c JOIN audit_heads h ON h.chain = c.chain
    WHERE c.chain = ${chain} AND h.sequence > c.sequence FOR UPDATE OF c SKIP LOCKED`;
  return row ? { chain, after: Number(row["after"]), last: Number(row["last"]) } : null;
}

/** Call lockCursor before, so that no other process reads the same events. */
export async function moveCursor(tx: Tx, { chain, last }: EventRange): Promise<void> {
  await sqlOf(tx)`UPDATE alert_cursors SET sequence = ${last} WHERE chain = ${chain}`;
}

/** The number of payments that a mandate denied in the `hour` with `code` or, if `code` is null, did not deny. */
export type Decided = { readonly mandateId: string; readonly code: string | null; readonly hour: Date; readonly count: number };

export async function decidedIn(tx: Tx, { chain, after, last }: EventRange): Promise<readonly Decided[]> {
  const rows = await sqlOf(tx)`
    SELECT mandate_id, CASE WHEN outcome = 'deny' THEN denial_code END AS code, date_trunc('hour', created_at, 'UTC') AS hour, count(*)::int AS count
    FROM authorizations WHERE organization_id = ${chain} AND sequence > ${after} AND sequence <= ${last}
    GROUP BY 1, 2, 3`;
  return rows.map((row) => ({
    mandateId: String(row["mandate_id"]),
    code: row["code"] === null ? null : String(row["code"]),
    hour: new Date(row["hour"] as string),
    count: Number(row["count"]),
  }));
}

/** Lists the executions of payments whose outcome became unknown in these events. */
export async function unknownIn(tx: Tx, { chain, after, last }: EventRange): Promise<readonly string[]> {
  const rows = await sqlOf(tx)`
    SELECT DISTINCT entity_id FROM audit_entries
    WHERE chain = ${chain} AND sequence > ${after} AND sequence <= ${last} AND type = 'payment.unknown'`;
  return rows.map((row) => String(row["entity_id"]));
}
