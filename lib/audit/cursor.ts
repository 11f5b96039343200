import { sql } from "drizzle-orm";
import { SIGNED } from "#lib/audit/checkpoint-store.ts";
import { database, sqlOf, type Tx } from "#lib/db/client.ts";
import { connectionEnded } from "#lib/db/failure.ts";
import { log } from "#lib/telemetry/log.ts";

/** Tables with the last event that a follower has read in each organization's log, whose name, `chain`, is the organization's id. */
type Cursors = "alert_cursors" | "notice_cursors";

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

type Follower = {
  readonly cursors: Cursors;
  /** At most so many events of a log are read in one transaction. */
  readonly events: number;
  /** Runs in the transaction that moves the cursors, so no event is skipped or read twice. Returns how much it found. */
  readonly read: (tx: Tx, ranges: readonly EventRange[]) => Promise<number>;
};

/** Logs in one transaction. */
const CHAINS = 50;
/** The most passes over all audit logs in one run. If more events are left, the next run reads them. */
const PASSES_MAX = 20;

async function grownLogs(cursors: Cursors, place: string): Promise<readonly string[]> {
  const found = await database().execute<{ chain: string }>(sql`
    SELECT h.chain FROM audit_heads h LEFT JOIN ${sql.identifier(cursors)} c ON c.chain = h.chain
    WHERE h.chain > ${place} AND h.chain NOT IN (${SIGNED}, 'platform') AND h.sequence > coalesce(c.sequence, 0)
    ORDER BY h.chain LIMIT ${CHAINS}`);
  return found.map(({ chain }) => chain);
}

const textsOf = (texts: readonly unknown[]) => sql.param(texts.map(String));

/** Leaves out logs whose cursor another transaction has locked, and logs without new events. */
async function lockCursors(tx: Tx, cursors: Cursors, chains: readonly string[], events: number): Promise<readonly EventRange[]> {
  await tx.execute(sql`
    INSERT INTO ${sql.identifier(cursors)} (chain, sequence) SELECT chain, 0 FROM unnest(${textsOf(chains)}::text[]) AS n (chain) ON CONFLICT DO NOTHING`);
  const locked = await tx.execute(sql`
    SELECT c.chain, c.sequence AS after, least(h.sequence, c.sequence + ${events}::bigint) AS last
    FROM ${sql.identifier(cursors)} c JOIN audit_heads h ON h.chain = c.chain
    WHERE c.chain = ANY(${textsOf(chains)}::text[]) AND h.sequence > c.sequence
    ORDER BY c.chain FOR UPDATE OF c SKIP LOCKED`);
  return locked.map((row) => ({ chain: String(row["chain"]), after: Number(row["after"]), last: Number(row["last"]) }));
}

/** `isBehind`: a log may have more new events than were read. */
type Followed = { readonly found: number; readonly isBehind: boolean };

const follow = ({ cursors, events, read }: Follower, chains: readonly string[]): Promise<Followed> =>
  database().transaction(async (tx) => {
    const ranges = await lockCursors(tx, cursors, chains, events);
    if (ranges.length === 0) return { found: 0, isBehind: false };
    const found = await read(tx, ranges);
    await tx.execute(sql`
      UPDATE ${sql.identifier(cursors)} c SET sequence = r.last
      FROM unnest(${textsOf(ranges.map(({ chain }) => chain))}::text[], ${textsOf(ranges.map(({ last }) => last))}::bigint[]) AS r (chain, last)
      WHERE c.chain = r.chain`);
    return { found, isBehind: ranges.some(({ after, last }) => last - after === events) };
  });

/** If the transaction for several logs fails, each log gets its own, so that a bad one stops no other. */
async function followApart(follower: Follower, chains: readonly string[]): Promise<readonly Followed[]> {
  if (chains.length === 0) return [];
  try {
    return [await follow(follower, chains)];
  } catch (error) {
    if (connectionEnded(error)) throw error;
    if (chains.length === 1) {
      log().error({ chain: chains[0], err: error }, "An audit log could not be followed; it is tried again");
      return [];
    }
  }
  const apart: Followed[] = [];
  for (const chain of chains) apart.push(...(await followApart(follower, [chain])));
  return apart;
}

async function followOnce(follower: Follower): Promise<Followed> {
  const all: Followed[] = [];
  for (let place = ""; ;) {
    const chains = await grownLogs(follower.cursors, place);
    all.push(...(await followApart(follower, chains)));
    place = chains.at(-1) ?? "";
    if (chains.length < CHAINS)
      return { found: all.reduce((sum, { found }) => sum + found, 0), isBehind: all.some(({ isBehind }) => isBehind) };
  }
}

/** Returns how much was found. */
export async function followLogs(follower: Follower): Promise<number> {
  let sum = 0;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const { found, isBehind } = await followOnce(follower);
    sum += found;
    if (!isBehind) break;
  }
  return sum;
}
