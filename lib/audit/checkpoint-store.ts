import { and, asc, desc, eq, gt, inArray, lte, max, sql } from "drizzle-orm";
import type { Checkpoint } from "#lib/audit/heads/checkpoint.ts";
import { auditAlarms, auditCheckpoints, auditEntries, auditHeads, signedSequence } from "#lib/audit/tables.ts";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { database, type Database } from "#lib/db/client.ts";
import { toWire } from "#lib/time.ts";

export type Due = { readonly keyId: string; readonly seconds: number; readonly events: number };

/** The audit log in which an event records each checkpoint of another log, so that a deleted checkpoint is still known. */
export const SIGNED = "checkpoints";

export const entityOf = (chain: string): string => `chain:${chain}`;

const dueWhere = ({ keyId, seconds, events }: Due) => sql`
  audit_heads h LEFT JOIN LATERAL (
    SELECT sequence, hash, key_id, created_at FROM audit_checkpoints c WHERE c.chain = h.chain
    ORDER BY sequence DESC, created_at DESC LIMIT 1) c ON true
  WHERE (c.sequence IS NULL OR c.key_id <> ${keyId} OR h.sequence < c.sequence OR (h.sequence = c.sequence AND h.hash <> c.hash)
    OR EXISTS (SELECT FROM audit_alarms a WHERE a.chain = h.chain)
    OR (h.sequence > c.sequence
      AND (h.sequence >= c.sequence + ${events} OR abs(extract(epoch FROM clock_timestamp() - c.created_at)) > ${seconds}))
    OR (h.chain <> ${SIGNED} AND NOT EXISTS (
      SELECT FROM audit_entries e WHERE e.chain = ${SIGNED} AND e.entity_id = ${entityOf("")} || h.chain)))`;

/** Audit logs after `place`, sorted, that must be signed: see the conditions of dueWhere. Without the log "checkpoints". */
export async function dueChains(due: Due, place: string, rows: number): Promise<readonly string[]> {
  const found = await database().execute<{ chain: string }>(
    sql`SELECT h.chain FROM ${dueWhere(due)} AND h.chain > ${place} AND h.chain <> ${SIGNED} ORDER BY h.chain LIMIT ${rows}`,
  );
  return found.map(({ chain }) => chain);
}

/** Whether the tree head of the log "checkpoints" itself must be signed. */
export async function signedIsDue(due: Due): Promise<boolean> {
  const found = await database().execute(sql`SELECT h.chain FROM ${dueWhere(due)} AND h.chain = ${SIGNED}`);
  return found.length > 0;
}

/** Two processes that sign the same head with the same key store one checkpoint. `named` is that of SignedHeads. */
export async function saveCheckpoint(checkpoint: Checkpoint, named: boolean): Promise<void> {
  const { chain, createdAt, ...signed } = checkpoint;
  await transact(async (tx) => {
    const inserted = await tx
      .insert(auditCheckpoints)
      .values(checkpoint)
      .onConflictDoNothing()
      .returning({ chain: auditCheckpoints.chain });
    if (chain === SIGNED || (inserted.length === 0 && named)) return;
    const organizationId = chain === "platform" ? null : chain;
    const event = { type: "auditChain.signed", actorId: "service", organizationId };
    const metadata = { ...signed, signedAt: toWire(createdAt) };
    audit(tx, { ...event, entityType: "auditChain", entityId: entityOf(chain), metadata }, await clock(tx), SIGNED);
  });
}

/** Takes the highest sequence, because two processes may record tree heads in another order than they signed them. */
export async function furthestNamed(chain: string, keyIds: readonly string[]): Promise<Checkpoint | null> {
  const [row] = await database()
    .select({ metadata: auditEntries.metadata })
    .from(auditEntries)
    .where(
      and(
        // Write the log's name as a literal: with a parameter, a generic plan cannot use the partial index of these events.
        sql`${auditEntries.chain} = 'checkpoints'`,
        eq(auditEntries.entityId, entityOf(chain)),
        inArray(sql`${auditEntries.metadata}->>'keyId'`, [...keyIds]),
      ),
    )
    .orderBy(desc(signedSequence(auditEntries)))
    .limit(1);
  if (!row) return null;
  const { sequence, hash, keyId, signature, signedAt } = row.metadata as Readonly<Record<string, unknown>>;
  const createdAt = new Date(String(signedAt));
  return { chain, keyId: String(keyId), sequence: Number(sequence), hash: String(hash), signature: String(signature), createdAt };
}

export async function newestCheckpointBy(chain: string, keyIds: readonly string[]): Promise<Checkpoint | null> {
  const [row] = await database()
    .select()
    .from(auditCheckpoints)
    .where(and(eq(auditCheckpoints.chain, chain), inArray(auditCheckpoints.keyId, [...keyIds])))
    .orderBy(desc(auditCheckpoints.sequence))
    .limit(1);
  return row ?? null;
}

export const newestCheckpoints = (chain: string, rows: number): Promise<Checkpoint[]> =>
  database()
    .select()
    .from(auditCheckpoints)
    .where(eq(auditCheckpoints.chain, chain))
    .orderBy(desc(auditCheckpoints.sequence), desc(auditCheckpoints.createdAt))
    .limit(rows);

export const newestCheckpoint = async (chain: string): Promise<Checkpoint | null> =>
  (await newestCheckpoints(chain, 1))[0] ?? null;

/** Sorted names after `place`. A log whose tree head was deleted is included if it has checkpoints. */
export async function selectChains(place: string, rows: number): Promise<readonly string[]> {
  const found = await database().execute<{ chain: string }>(sql`
    SELECT chain FROM audit_heads WHERE chain > ${place}
    UNION SELECT chain FROM audit_checkpoints WHERE chain > ${place}
    ORDER BY chain LIMIT ${rows}`);
  return found.map(({ chain }) => chain);
}

/** Several keys may have signed the same sequence. The last sequence is read completely, so there can be more than `rows`. */
export function selectCheckpoints(chain: string, place: number, rows: number): Promise<Checkpoint[]> {
  const after = and(eq(auditCheckpoints.chain, chain), gt(auditCheckpoints.sequence, place));
  const { sequence } = auditCheckpoints;
  const page = database().select({ sequence }).from(auditCheckpoints).where(after).orderBy(asc(sequence)).limit(rows).as("page");
  const last = database()
    .select({ last: max(page.sequence) })
    .from(page);
  return database()
    .select()
    .from(auditCheckpoints)
    .where(and(after, lte(sequence, last)))
    .orderBy(asc(sequence), asc(auditCheckpoints.keyId));
}

export async function countChains(): Promise<{ readonly chains: number; readonly events: number }> {
  const [row] = await database()
    .select({ chains: sql<string>`count(*)`, events: sql<string>`coalesce(sum(${auditHeads.sequence}), 0)` })
    .from(auditHeads);
  return { chains: Number(row?.chains ?? 0), events: Number(row?.events ?? 0) };
}

export type AuditAlarm = typeof auditAlarms.$inferSelect;

export async function findAlarm(chain: string): Promise<AuditAlarm | null> {
  const [row] = await database().select().from(auditAlarms).where(eq(auditAlarms.chain, chain));
  return row ?? null;
}

/** If the audit log has an alarm already, the new one replaces it and keeps its `raisedAt`. */
export async function saveAlarm(alarm: Omit<AuditAlarm, "raisedAt">): Promise<void> {
  const { chain: _, ...change } = alarm;
  await database().insert(auditAlarms).values(alarm).onConflictDoUpdate({ target: auditAlarms.chain, set: change });
}

export async function endAlarm(chain: string, on: Pick<Database, "delete"> = database()): Promise<void> {
  await on.delete(auditAlarms).where(eq(auditAlarms.chain, chain));
}

export const selectAlarms = (rows: number): Promise<AuditAlarm[]> =>
  database().select().from(auditAlarms).orderBy(asc(auditAlarms.raisedAt), asc(auditAlarms.chain)).limit(rows);

export const countAlarms = (): Promise<number> => database().$count(auditAlarms);
