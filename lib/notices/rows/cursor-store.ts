import { inArray, sql } from "drizzle-orm";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { SIGNED } from "#lib/audit/checkpoint-store.ts";
import type { EventRange } from "#lib/audit/range-store.ts";
import { auditHeads } from "#lib/audit/tables.ts";
import { sqlOf, type Database, type Tx } from "#lib/db/client.ts";
import type { OpeningEvent, Request } from "#lib/notices/plan-notices.ts";
import { noticeCursors } from "#lib/notices/tables.ts";

export async function grownChains(db: Database, place: string, rows: number): Promise<readonly string[]> {
  const found = await db
    .select({ chain: auditHeads.chain })
    .from(auditHeads)
    .leftJoin(noticeCursors, sql`${noticeCursors.chain} = ${auditHeads.chain}`)
    .where(
      sql`${auditHeads.chain} > ${place} AND ${auditHeads.chain} NOT IN (${SIGNED}, 'platform')
        AND ${auditHeads.sequence} > coalesce(${noticeCursors.sequence}, 0)`,
    )
    .orderBy(auditHeads.chain)
    .limit(rows);
  return found.map(({ chain }) => chain);
}

/** Leaves out chains whose cursor another transaction has locked, and chains without new events. */
export async function lockCursors(tx: Tx, chains: readonly string[], events: number): Promise<readonly EventRange[]> {
  await tx
    .insert(noticeCursors)
    .values([...chains].map((chain) => ({ chain, sequence: 0 })))
    .onConflictDoNothing();
  const locked = await sqlOf(tx)`
    SELECT c.chain, c.sequence AS after, least(h.sequence, c.sequence + ${events}::bigint) AS last
    FROM notice_cursors c JOIN audit_heads h ON h.chain = c.chain
    WHERE c.chain = ANY(${[...chains]}::text[]) AND h.sequence > c.sequence
    ORDER BY c.chain FOR UPDATE OF c SKIP LOCKED`;
  return locked.map((row) => ({ chain: String(row["chain"]), after: Number(row["after"]), last: Number(row["last"]) }));
}

/** Call lockCursors before in this transaction, so that no other process reads the same events. */
export async function moveCursors(tx: Tx, ranges: readonly EventRange[]): Promise<void> {
  await sqlOf(tx)`
    UPDATE notice_cursors c SET sequence = r.last
    FROM unnest(${ranges.map(({ chain }) => chain)}::text[], ${ranges.map(({ last }) => String(last))}::bigint[]) AS r (chain, last)
    WHERE c.chain = r.chain`;
}

export async function requestsOf(tx: Tx, events: readonly OpeningEvent[]): Promise<ReadonlyMap<string, Request>> {
  if (events.length === 0) return new Map();
  const { checkoutIntentId, organizationId, status, authorizationId, createdAt, expiresAt } = checkoutIntents;
  const rows = await tx
    .select({ checkoutIntentId, organizationId, status, authorizationId, createdAt, expiresAt })
    .from(checkoutIntents)
    .where(inArray(checkoutIntentId, [...new Set(events.map((event) => event.checkoutIntentId))]));
  return new Map(rows.map((row) => [row.checkoutIntentId, row]));
}
