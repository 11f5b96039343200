import { and, desc, eq, gte, lt, or, sql, type SQL } from "drizzle-orm";
import type { ChainedEvent } from "#lib/audit/chain.ts";
import { auditEvents, auditHeads } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";

export type Query = {
  /** The part of the event type before the dot, such as payment or mandate. If empty, all kinds. */
  readonly kinds: readonly string[];
  /** The id of an entity, actor or subject. */
  readonly id: string | null;
  readonly from: Date | null;
  readonly until: Date | null;
};

const ofKinds = ({ kinds }: Query): SQL | undefined =>
  kinds.length === 0 ? undefined : sql`split_part(${auditEvents.type}, '.', 1) = ANY(${sql.param(kinds)}::text[])`;

const between = ({ from, until }: Query): SQL | undefined =>
  and(
    from === null ? undefined : gte(auditEvents.createdAt, from),
    until === null ? undefined : lt(auditEvents.createdAt, until),
  );

type Part = { readonly chain: string; readonly after: number; readonly before: number; readonly rows: number };

async function select(condition: SQL | undefined, rows: number): Promise<ChainedEvent[]> {
  const found = await database().select().from(auditEvents).where(condition).orderBy(desc(auditEvents.sequence)).limit(rows);
  return found.map((row) => ({ ...row, metadata: row.metadata as Readonly<Record<string, unknown>> }));
}

/** Newest first. The range limits how many events are read if only few match. */
export const searchStretch = ({ chain, after, before, rows }: Part, wanted: Query): Promise<ChainedEvent[]> => {
  const { id } = wanted;
  const about =
    id === null ? undefined : or(eq(auditEvents.entityId, id), eq(auditEvents.actorId, id), eq(auditEvents.subjectId, id));
  const stretch = and(sql`${auditEvents.sequence} > ${after}`, lt(auditEvents.sequence, before));
  return select(and(eq(auditEvents.chain, chain), stretch, ofKinds(wanted), between(wanted), about), rows);
};

/** Newest first, with the index for entities. */
export const searchEntity = (chain: string, id: string, before: number, rows: number, wanted: Query): Promise<ChainedEvent[]> =>
  select(
    and(
      eq(auditEvents.entityId, id),
      eq(auditEvents.chain, chain),
      lt(auditEvents.sequence, before),
      ofKinds(wanted),
      between(wanted),
    ),
    rows,
  );

export async function lengthOf(chain: string): Promise<number> {
  const [row] = await database().select({ sequence: auditHeads.sequence }).from(auditHeads).where(eq(auditHeads.chain, chain));
  return row?.sequence ?? 0;
}

export async function timeAt(chain: string, sequence: number): Promise<Date | null> {
  const [row] = await database()
    .select({ createdAt: auditEvents.createdAt })
    .from(auditEvents)
    .where(and(eq(auditEvents.chain, chain), eq(auditEvents.sequence, sequence)));
  return row?.createdAt ?? null;
}
