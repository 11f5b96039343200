import { and, asc, desc, eq, gt, sql } from "drizzle-orm";
import type { Checkpoint } from "#lib/audit/checkpoint.ts";
import { auditCheckpoints, auditHeads } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";

export type DueHead = { readonly chain: string; readonly sequence: number; readonly hash: string };

/**
 * Chains that went on since their newest checkpoint: long ago, or by many events. A chain whose newest checkpoint another key signed
 * is due too.
 */
export async function dueHeads(keyId: string, seconds: number, events: number, rows: number): Promise<readonly DueHead[]> {
  const due = await database().execute<{ chain: string; sequence: string; hash: string }>(sql`
    SELECT h.chain, h.sequence, h.hash FROM audit_heads h LEFT JOIN LATERAL (
      SELECT sequence, key_id, created_at FROM audit_checkpoints c WHERE c.chain = h.chain ORDER BY sequence DESC, created_at DESC LIMIT 1) c ON true
    WHERE c.sequence IS NULL OR c.key_id <> ${keyId} OR (h.sequence > c.sequence
      AND (h.sequence >= c.sequence + ${events} OR c.created_at < clock_timestamp() - make_interval(secs => ${seconds})))
    ORDER BY h.chain LIMIT ${rows}`);
  return due.map(({ chain, sequence, hash }) => ({ chain, sequence: Number(sequence), hash }));
}

/** Two processes that sign the same head are one checkpoint. */
export async function saveCheckpoints(rows: readonly Checkpoint[]): Promise<void> {
  if (rows.length > 0)
    await database()
      .insert(auditCheckpoints)
      .values([...rows])
      .onConflictDoNothing();
}

/** Newest first. */
export const newestCheckpoints = (chain: string, rows: number): Promise<Checkpoint[]> =>
  database()
    .select()
    .from(auditCheckpoints)
    .where(eq(auditCheckpoints.chain, chain))
    .orderBy(desc(auditCheckpoints.sequence), desc(auditCheckpoints.createdAt))
    .limit(rows);

export const newestCheckpoint = async (chain: string): Promise<Checkpoint | null> =>
  (await newestCheckpoints(chain, 1))[0] ?? null;

/** In the order of their names, behind one: those that have a head and those that only a checkpoint remembers. */
export async function selectChains(after: string, rows: number): Promise<readonly string[]> {
  const found = await database().execute<{ chain: string }>(sql`
    SELECT chain FROM audit_heads WHERE chain > ${after}
    UNION SELECT chain FROM audit_checkpoints WHERE chain > ${after}
    ORDER BY chain LIMIT ${rows}`);
  return found.map(({ chain }) => chain);
}

/** Oldest first. */
export const selectCheckpoints = (chain: string, after: number, rows: number): Promise<Checkpoint[]> =>
  database()
    .select()
    .from(auditCheckpoints)
    .where(and(eq(auditCheckpoints.chain, chain), gt(auditCheckpoints.sequence, after)))
    .orderBy(asc(auditCheckpoints.sequence))
    .limit(rows);

/** How many chains there are, with how many events, and how many went on since their newest checkpoint. */
export async function countChains(): Promise<{ readonly chains: number; readonly events: number }> {
  const [row] = await database()
    .select({ chains: sql<string>`count(*)`, events: sql<string>`coalesce(sum(${auditHeads.sequence}), 0)` })
    .from(auditHeads);
  return { chains: Number(row?.chains ?? 0), events: Number(row?.events ?? 0) };
}
