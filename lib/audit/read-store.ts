import { and, asc, desc, eq, gt, inArray, lt, lte, sql } from "drizzle-orm";
import type { ChainedEvent } from "#lib/audit/chain.ts";
import { entityOf, SIGNED } from "#lib/audit/checkpoint-store.ts";
import { auditEntries, auditEvents, signedSequence } from "#lib/audit/tables.ts";
import { EMPTY_ROOT, sequencesOf, type StoredHash } from "#lib/audit/tree.ts";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { idUnder } from "#lib/ids.ts";

type PageOf = {
  readonly chain: string;
  readonly entityId?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly place: number | null;
  readonly rows: number;
};

const asEvent = (row: Omit<typeof auditEvents.$inferSelect, "salts">): ChainedEvent => ({
  ...row,
  metadata: row.metadata as Readonly<Record<string, unknown>>,
});

/** Newest first, beginning before the sequence `place`. */
export async function selectEvents({ chain, entityId, types, place, rows }: PageOf): Promise<ChainedEvent[]> {
  const found = await database()
    .select()
    .from(auditEvents)
    .where(
      and(
        eq(auditEvents.chain, chain),
        ...(entityId === undefined ? [] : [eq(auditEvents.entityId, entityId)]),
        ...(types === undefined ? [] : [inArray(auditEvents.type, [...types])]),
        ...(place === null ? [] : [lt(auditEvents.sequence, place)]),
      ),
    )
    .orderBy(desc(auditEvents.sequence))
    .limit(rows);
  return found.map(asEvent);
}

/** In all audit logs, newest first. */
async function listEventsAbout(entityId: string, place: string | null, rows: number): Promise<ChainedEvent[]> {
  const found = await database()
    .select()
    .from(auditEvents)
    .where(and(eq(auditEvents.entityId, entityId), place === null ? undefined : lt(auditEvents.auditEventId, place)))
    .orderBy(desc(auditEvents.auditEventId))
    .limit(rows);
  return found.map(asEvent);
}

/** These events are stored as rows of the table `authorizations`. */
const DECIDED = ["payment.authorized", "payment.denied", "payment.approvalRequired"];

/** Newest first, without the log "checkpoints" unless `entityId` is given. Each table has its own index, and the view none. */
export async function listEventsOfAll(entityId: string | undefined, place: string | null, rows: number): Promise<ChainedEvent[]> {
  if (entityId !== undefined) return listEventsAbout(entityId, place, rows);
  const before = place === null ? sql`true` : sql`authorization_id < ${idUnder("authorization", place)}`;
  const newest = sql`(SELECT authorization_id FROM authorizations WHERE ${before} ORDER BY authorization_id DESC LIMIT ${rows})`;
  const earlier = place === null ? sql`true` : sql`audit_event_id < ${place}`;
  const newestEntries = sql`(SELECT chain, sequence FROM audit_entries WHERE chain <> ${SIGNED} AND ${earlier}
    ORDER BY audit_event_id DESC LIMIT ${rows})`;
  const [entries, authorizations] = await Promise.all([
    database()
      .select()
      .from(auditEvents)
      .where(sql`(${auditEvents.chain}, ${auditEvents.sequence}) IN ${newestEntries}`),
    database()
      .select()
      .from(auditEvents)
      .where(and(sql`${auditEvents.entityId} IN ${newest}`, inArray(auditEvents.type, DECIDED))),
  ]);
  const found = [...entries, ...authorizations].map(asEvent);
  return found.toSorted((a, b) => (a.auditEventId < b.auditEventId ? 1 : -1)).slice(0, rows);
}

/** After `after`, up to and including `last`, oldest first. A forged event with the sequence of a real one is never cut off. */
export async function readEvents(
  chain: string,
  after: number,
  last: number,
  rows: number,
  on: Database | Tx = database(),
): Promise<ChainedEvent[]> {
  const found = await on
    .select()
    .from(auditEvents)
    .where(and(eq(auditEvents.chain, chain), gt(auditEvents.sequence, after), lte(auditEvents.sequence, last)))
    .orderBy(asc(auditEvents.sequence))
    .limit(rows + 1);
  const isWhole = found[rows]?.sequence !== found[rows - 1]?.sequence;
  return (isWhole ? found.slice(0, rows) : found).map(asEvent);
}

export async function eventsAt(on: Database | Tx, chain: string, sequences: readonly number[]): Promise<ChainedEvent[]> {
  if (sequences.length === 0) return [];
  const found = await on
    .select()
    .from(auditEvents)
    .where(and(eq(auditEvents.chain, chain), inArray(auditEvents.sequence, [...sequences])));
  return found.map(asEvent);
}

export async function oldestEventAbout(chain: string, entityId: string): Promise<ChainedEvent | null> {
  const [row] = await database()
    .select()
    .from(auditEvents)
    .where(and(eq(auditEvents.entityId, entityId), eq(auditEvents.chain, chain)))
    .orderBy(asc(auditEvents.sequence))
    .limit(1);
  return row ? asEvent(row) : null;
}

type About = { readonly chain: string; readonly entityId: string; readonly types?: readonly string[] };

export async function newestEventAbout({ chain, entityId, types }: About): Promise<ChainedEvent | null> {
  const [found] = await selectEvents({ chain, entityId, types, place: null, rows: 1 });
  return found ?? null;
}

/** The event with the highest signed sequence of `chain` among the first `size` events of the log "checkpoints". */
export async function furthestSigned(chain: string, size: number): Promise<ChainedEvent | null> {
  const [row] = await database()
    .select()
    .from(auditEntries)
    .where(
      and(
        // Write the log's name as a literal: with a parameter, a generic plan cannot use the partial index of these events.
        sql`${auditEntries.chain} = 'checkpoints'`,
        eq(auditEntries.entityId, entityOf(chain)),
        lte(auditEntries.sequence, size),
      ),
    )
    .orderBy(desc(signedSequence(auditEntries)))
    .limit(1);
  return row ? asEvent(row) : null;
}

export type Ends = { readonly sequence: number; readonly hash: string; readonly peaks: string; readonly newest: number };

/** Reads the tree head and the highest sequence in one statement, so from one moment. Null if the log has neither. */
export async function readEnds(chain: string): Promise<Ends | null> {
  const [row] = await database().execute<{ sequence: string | null; hash: string; peaks: string; newest: string | null }>(sql`
    SELECT h.sequence, coalesce(h.hash, '') AS hash, coalesce(h.peaks, '') AS peaks,
      (SELECT max(e.sequence) FROM audit_events e WHERE e.chain = ${chain}) AS newest
    FROM (SELECT 1) AS one LEFT JOIN audit_heads h ON h.chain = ${chain}`);
  if (!row || (row.sequence === null && row.newest === null)) return null;
  return { ...row, sequence: Number(row.sequence ?? 0), newest: Number(row.newest ?? 0) };
}

/** One statement for all hashes. A missing event gets the hash of an empty tree, so that the result of `calculate` is wrong. */
export async function storedHashes(chain: string, calculate: (stored: StoredHash) => unknown): Promise<StoredHash> {
  const rows = await database()
    .select({ sequence: auditEvents.sequence, hash: auditEvents.hash, node: auditEvents.node })
    .from(auditEvents)
    .where(and(eq(auditEvents.chain, chain), inArray(auditEvents.sequence, sequencesOf(calculate))));
  const bySequence = new Map(rows.map((row) => [row.sequence, row]));
  return (sequence, width) => {
    const row = bySequence.get(sequence);
    return (width === 1 ? row?.hash : row?.node) ?? EMPTY_ROOT;
  };
}
