import type { Row } from "postgres";
import type { Sql } from "#lib/db/sql.ts";
import { chainEvents, genesis, type AuditEvent, type ChainedEvent } from "#lib/audit/chain.ts";
import { auditEvents, auditHeads } from "#lib/audit/tables.ts";
import { given } from "#lib/db/bulk.ts";
import { columnsOf } from "#lib/db/rows.ts";
import { pipelined } from "#lib/payments/batch-load.ts";

/* The audit events of a batch. */

export const chainOf = ({ organizationId }: { readonly organizationId: string | null }): string => organizationId ?? "platform";

/** Locks the heads of the chains. */
export const headsOf = (c: Sql, chains: readonly string[]) =>
  c`SELECT chain, sequence, hash FROM audit_heads WHERE chain = ANY(${chains}::text[]) ORDER BY chain FOR NO KEY UPDATE`;

/** Creates missing heads for chains without events, then reads all heads. */
export async function newHeads(c: Sql, chains: readonly string[]): Promise<readonly Row[]> {
  const begun = c`INSERT INTO audit_heads (chain, sequence, hash) SELECT o, ${genesis.sequence}::bigint, ${genesis.hash}
    FROM unnest(${chains}::text[]) AS o ORDER BY o ON CONFLICT DO NOTHING`;
  return (await pipelined([begun, headsOf(c, chains)]))[1];
}

const auditColumns = given(
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
  auditColumns.last,
);

const APPEND = `
  WITH appended AS (INSERT INTO audit_events (${auditColumns.names}) SELECT * FROM ${auditColumns.source}),
    newest AS MATERIALIZED (SELECT * FROM ${headColumns.source})
  UPDATE audit_heads SET (sequence, hash) = (SELECT sequence, hash FROM newest WHERE newest.chain = audit_heads.chain)
  WHERE chain = ANY($${headColumns.last + 1}::text[])`;

/** Appends the audit events and moves their heads. */
export function appendAudit(c: Sql, happened: readonly AuditEvent[], from: readonly Row[]): PromiseLike<unknown> {
  const byChain = Map.groupBy(happened, chainOf);
  const chained = from.flatMap((head) => {
    const chain = head["chain"] as string;
    return chainEvents(chain, { sequence: Number(head["sequence"]), hash: head["hash"] as string }, byChain.get(chain) ?? []);
  });
  const last = [...Map.groupBy(chained, (event) => event.chain).values()].map((ofChain) => ofChain.at(-1)!);
  const lists = [...auditColumns.values(chained), ...headColumns.values(last)];
  return c.unsafe(APPEND, [...lists, last.map((event) => event.chain)], { prepare: true });
}
