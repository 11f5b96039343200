import { sql } from "drizzle-orm";
import type { Row } from "postgres";
import { chainEvents, genesis, type AuditEvent, type ChainedEvent } from "#lib/audit/chain.ts";
import { auditEvents, auditHeads } from "#lib/audit/tables.ts";
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
  c`SELECT chain, sequence, hash FROM audit_heads WHERE chain = ANY(${chains}::text[]) ORDER BY chain FOR NO KEY UPDATE`;

/** The locked heads, if they are all there; otherwise creates the heads of chains without events and locks all. */
export async function allHeads(c: Sql, chains: readonly string[], locked: readonly Row[]): Promise<readonly Row[]> {
  if (locked.length === chains.length) return locked;
  await c`INSERT INTO audit_heads (chain, sequence, hash) SELECT o, ${genesis.sequence}::bigint, ${genesis.hash}
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
    createdAt: (event) => event.createdAt,
  }),
);

const headColumns = given(
  "head",
  columnsOf<ChainedEvent, typeof auditHeads>(auditHeads, {
    chain: (event) => event.chain,
    sequence: (event) => event.sequence,
    hash: (event) => event.hash,
  }),
  columns.last,
);

const APPEND = `
  WITH appended AS (INSERT INTO audit_events (${columns.names}) SELECT * FROM ${columns.source}),
    newest AS MATERIALIZED (SELECT * FROM ${headColumns.source})
  UPDATE audit_heads SET (sequence, hash) = (SELECT sequence, hash FROM newest WHERE newest.chain = audit_heads.chain)
  WHERE chain = ANY($${headColumns.last + 1}::text[])`;

/** Chains events to the locked heads, and the statement that appends them and moves the heads. */
export function append(c: Sql, heads: readonly Row[], events: readonly PendingEvent[]) {
  const byChain = Map.groupBy(events, auditChainOf);
  const chained = heads.map((head) => {
    const chain = head["chain"] as string;
    return chainEvents(chain, { sequence: Number(head["sequence"]), hash: head["hash"] as string }, byChain.get(chain) ?? []);
  });
  const rows = chained.flat();
  const newest = chained.flatMap((ofChain) => ofChain.at(-1) ?? []);
  const lists = [...columns.values(rows), ...headColumns.values(newest)];
  return { rows, statement: c.unsafe(APPEND, [...lists, newest.map((event) => event.chain)], { prepare: true }) };
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
