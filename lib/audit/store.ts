import { sql } from "drizzle-orm";
import type { Row } from "postgres";
import { chainEvents, genesis, type AuditEvent, type AuditHead, type ChainedEvent } from "#lib/audit/chain.ts";
import { commitTexts, hashedMetadata, personalTexts, type PersonalText } from "#lib/audit/commitment.ts";
import { auditEntries, auditHeads, auditTexts } from "#lib/audit/tables.ts";
import { readPeaks, writePeaks } from "#lib/audit/tree.ts";
import { given } from "#lib/db/bulk.ts";
import { sqlOf, type Sql, type Tx } from "#lib/db/client.ts";
import { columnsOf } from "#lib/db/rows.ts";
import { metrics } from "#lib/telemetry/metrics.ts";

/** Without `chain`, the event is appended to the log of the organization or, if there is none, of the platform. */
export type PendingEvent = AuditEvent & { readonly chain?: string };

export const auditChainOf = ({ chain, organizationId }: Pick<PendingEvent, "chain" | "organizationId">): string =>
  chain ?? organizationId ?? "platform";

/** In the order of names, or two transactions can deadlock. */
export const lockHeads = (c: Sql, chains: readonly string[]) =>
  c`SELECT chain, sequence, peaks FROM audit_heads WHERE chain = ANY(${chains}::text[]) ORDER BY chain FOR NO KEY UPDATE`;

/** If a log has no events yet, creates its row and locks the rows of all given logs. */
export async function allHeads(c: Sql, chains: readonly string[], locked: readonly Row[]): Promise<readonly Row[]> {
  if (locked.length === chains.length) return locked;
  await c`INSERT INTO audit_heads (chain, sequence, hash, peaks) SELECT o, ${genesis.sequence}::bigint, ${genesis.hash}, ''
    FROM unnest(${chains}::text[]) AS o ORDER BY o ON CONFLICT DO NOTHING`;
  return lockHeads(c, chains);
}

type NamedHead = AuditHead & { readonly chain: string };

const headColumns = given(
  "head",
  columnsOf<NamedHead, typeof auditHeads>(auditHeads, {
    chain: (head) => head.chain,
    sequence: (head) => head.sequence,
    hash: (head) => head.hash,
    peaks: (head) => writePeaks(head.peaks),
  }),
);

const eventColumns = given(
  "event",
  columnsOf<ChainedEvent, typeof auditEntries>(auditEntries, {
    chain: (event) => event.chain,
    sequence: (event) => event.sequence,
    auditEventId: (event) => event.auditEventId,
    type: (event) => event.type,
    actorId: (event) => event.actorId,
    organizationId: (event) => event.organizationId,
    subjectId: (event) => event.subjectId,
    entityType: (event) => event.entityType,
    entityId: (event) => event.entityId,
    metadata: hashedMetadata,
    hash: (event) => event.hash,
    node: (event) => event.node,
    createdAt: (event) => event.createdAt,
    commitments: (event) => event.commitments,
  }),
  headColumns.last + 1,
);

type ChainedText = PersonalText & Pick<ChainedEvent, "chain" | "sequence">;

const textColumns = given(
  "told",
  columnsOf<ChainedText, typeof auditTexts>(
    auditTexts,
    {
      chain: (row) => row.chain,
      sequence: (row) => row.sequence,
      name: (row) => row.name,
      salt: (row) => row.salt,
      text: (row) => row.text,
    },
    ["text"],
  ),
  eventColumns.last,
);

const MOVE_HEADS = `
  WITH newest AS MATERIALIZED (SELECT * FROM ${headColumns.source})
  UPDATE audit_heads SET (sequence, hash, peaks) = (SELECT sequence, hash, peaks FROM newest WHERE newest.chain = audit_heads.chain)
  WHERE chain = ANY($${headColumns.last + 1}::text[])`;

const APPEND = MOVE_HEADS.replace(
  "WITH",
  `WITH appended AS (INSERT INTO audit_entries (${eventColumns.names}) SELECT * FROM ${eventColumns.source}),`,
);

const APPEND_WITH_TEXTS = APPEND.replace(
  "WITH",
  `WITH told AS (INSERT INTO audit_texts (${textColumns.names}) SELECT * FROM ${textColumns.source}),`,
);

type Chained = { readonly events: readonly ChainedEvent[]; readonly heads: readonly NamedHead[] };

/** Continues from the locked tree heads. Returns the events in the given order, and the new tree heads. */
export function chainTo(heads: readonly Row[], events: readonly PendingEvent[]): Chained {
  const byChain = Map.groupBy(events, auditChainOf);
  const placed = new Map<PendingEvent, ChainedEvent>();
  const moved = heads.map((row): NamedHead => {
    const chain = row["chain"] as string;
    const from = { sequence: Number(row["sequence"]), peaks: readPeaks(row["peaks"] as string) };
    const own = byChain.get(chain) ?? [];
    const chained = chainEvents(chain, from, own.map(commitTexts));
    for (const [at, event] of own.entries()) placed.set(event, chained.events[at]!);
    return { chain, ...chained.head };
  });
  return { events: events.map((event) => placed.get(event)!), heads: moved };
}

/** The events of authorizations are not passed here, because the rows of the authorizations contain them. */
export function append(c: Sql, events: readonly ChainedEvent[], heads: readonly NamedHead[]) {
  const texts = events.flatMap((event) =>
    personalTexts(event).map((personal): ChainedText => ({ ...personal, chain: event.chain, sequence: event.sequence })),
  );
  const moved = [...headColumns.values(heads), heads.map(({ chain }) => chain)];
  if (events.length === 0) return c.unsafe(MOVE_HEADS, moved, { prepare: true });
  const appended = [...moved, ...eventColumns.values(events)];
  if (texts.length === 0) return c.unsafe(APPEND, appended, { prepare: true });
  return c.unsafe(APPEND_WITH_TEXTS, [...appended, ...textColumns.values(texts)], { prepare: true });
}

export async function appendEvents(tx: Tx, events: readonly PendingEvent[]): Promise<readonly ChainedEvent[]> {
  if (events.length === 0) return [];
  const c = sqlOf(tx);
  const chains = [...new Set(events.map(auditChainOf))];
  const chained = chainTo(await allHeads(c, chains, await lockHeads(c, chains)), events);
  await append(c, chained.events, chained.heads);
  metrics().auditEvents.inc(events.length);
  return chained.events;
}

/** Call it after taking locks, or the time can be earlier than changes that were waited for. */
export async function clock(tx: Pick<Tx, "execute">): Promise<Date> {
  const [row] = await tx.execute<{ now: string }>(sql`SELECT clock_timestamp() AS now`);
  return new Date(row!.now);
}
