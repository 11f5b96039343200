import { sql } from "drizzle-orm";
import type { Row } from "postgres";
import { chainEvents, genesis, type AuditEvent, type AuditHead, type ChainedEvent } from "#lib/audit/chain.ts";
import { auditEvents, auditHeads } from "#lib/audit/tables.ts";
import { readPeaks, writePeaks } from "#lib/audit/tree.ts";
import { given } from "#lib/db/bulk.ts";
import { sqlOf, type Sql, type Tx } from "#lib/db/client.ts";
import { columnsOf } from "#lib/db/rows.ts";
import { metrics } from "#lib/telemetry/metrics.ts";

/** An event and its chain; by default the organization's, or the platform's if there is no organization. */
export type PendingEvent = AuditEvent & { readonly chain?: string };

export const auditChainOf = ({ chain, organizationId }: Pick<PendingEvent, "chain" | "organizationId">): string =>
  chain ?? organizationId ?? "platform";

/** Locks the heads in the order of their names, as the last locks of a transaction. */
export const lockHeads = (c: Sql, chains: readonly string[]) =>
  c`SELECT chain, sequence, peaks FROM audit_heads WHERE chain = ANY(${chains}::text[]) ORDER BY chain FOR NO KEY UPDATE`;

/** The locked heads, if they are all there; otherwise creates the heads of chains without events and locks all. */
export async function allHeads(c: Sql, chains: readonly string[], locked: readonly Row[]): Promise<readonly Row[]> {
  if (locked.length === chains.length) return locked;
  await c`INSERT INTO audit_heads (chain, sequence, hash, peaks) SELECT o, ${genesis.sequence}::bigint, ${genesis.hash}, ''
    FROM unnest(${chains}::text[]) AS o ORDER BY o ON CONFLICT DO NOTHING`;
  return lockHeads(c, chains);
}

const columns = given(
  "event",
  columnsOf<ChainedEvent, typeof auditEvents>(auditEvents, {
    chain: (event) => event.chain,
    sequence: (event) => event.sequence,
    auditEventId: (event) => event.auditEventId,
    type: (event) => event.type,
    actorId: (event) => event.actorId,
    organizationId: (event) => event.organizationId,
    subjectId: (event) => event.subjectId,
    entityType: (event) => event.entityType,
    entityId: (event) => event.entityId,
    metadata: (event) => event.metadata,
    hash: (event) => event.hash,
    node: (event) => event.node,
    createdAt: (event) => event.createdAt,
  }),
);

const headColumns = given(
  "head",
  columnsOf<AuditHead & { readonly chain: string }, typeof auditHeads>(auditHeads, {
    chain: (head) => head.chain,
    sequence: (head) => head.sequence,
    hash: (head) => head.hash,
    peaks: (head) => writePeaks(head.peaks),
  }),
  columns.last,
);

const APPEND = `
  WITH appended AS (INSERT INTO audit_events (${columns.names}) SELECT * FROM ${columns.source}),
    newest AS MATERIALIZED (SELECT * FROM ${headColumns.source})
  UPDATE audit_heads SET (sequence, hash, peaks) = (SELECT sequence, hash, peaks FROM newest WHERE newest.chain = audit_heads.chain)
  WHERE chain = ANY($${headColumns.last + 1}::text[])`;

/** Chains events to the locked heads, and the statement that appends them and moves the heads. */
export function append(c: Sql, heads: readonly Row[], events: readonly PendingEvent[]) {
  const byChain = Map.groupBy(events, auditChainOf);
  const chained = heads.map((row) => {
    const chain = row["chain"] as string;
    const from = { sequence: Number(row["sequence"]), peaks: readPeaks(row["peaks"] as string) };
    return { chain, ...chainEvents(chain, from, byChain.get(chain) ?? []) };
  });
  const rows = chained.flatMap(({ events: ofChain }) => ofChain);
  const newest = chained.map(({ chain, head }) => ({ chain, ...head }));
  const lists = [...columns.values(rows), ...headColumns.values(newest)];
  return { rows, statement: c.unsafe(APPEND, [...lists, newest.map(({ chain }) => chain)], { prepare: true }) };
}

/** Appends events to their chains. */
export async function appendEvents(tx: Tx, events: readonly PendingEvent[]): Promise<readonly ChainedEvent[]> {
  if (events.length === 0) return [];
  const c = sqlOf(tx);
  const chains = [...new Set(events.map(auditChainOf))];
  const { rows, statement } = append(c, await allHeads(c, chains, await lockHeads(c, chains)), events);
  await statement;
  metrics().auditEvents.inc(rows.length);
  return rows;
}

/** The time of the database. Read it after taking locks. */
export async function clock(tx: Pick<Tx, "execute">): Promise<Date> {
  const [row] = await tx.execute<{ now: string }>(sql`SELECT clock_timestamp() AS now`);
  return new Date(row!.now);
}
