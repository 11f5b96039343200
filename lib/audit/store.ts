import { asc, eq, inArray, sql } from "drizzle-orm";
import { chainEvents, genesis, type AuditEvent, type ChainedEvent } from "#lib/audit/chain.ts";
import { auditEvents, auditHeads } from "#lib/audit/tables.ts";
import type { Tx } from "#lib/db/client.ts";
import { metrics } from "#lib/telemetry/metrics.ts";

const lockHeads = (tx: Tx, chains: readonly string[]) =>
  tx
    .select()
    .from(auditHeads)
    .where(inArray(auditHeads.chain, [...chains]))
    .orderBy(asc(auditHeads.chain))
    .for("no key update");

/** Locks the heads and creates missing ones, because a chain begins with its first event. */
async function lockOrBegin(tx: Tx, chains: readonly string[]) {
  const heads = await lockHeads(tx, chains);
  if (heads.length === chains.length) return heads;
  await tx
    .insert(auditHeads)
    .values(chains.map((chain) => ({ chain, ...genesis })))
    .onConflictDoNothing();
  return lockHeads(tx, chains);
}

/** Appends events to their chains. The heads are locked in the order of their names, as the last locks of a transaction. */
export async function appendEvents(
  tx: Tx,
  events: readonly (AuditEvent & { readonly chain: string })[],
): Promise<readonly ChainedEvent[]> {
  if (events.length === 0) return [];
  const heads = await lockOrBegin(tx, [...new Set(events.map((event) => event.chain))].toSorted());
  const chained = heads.map((head) =>
    chainEvents(
      head.chain,
      head,
      events.filter((event) => event.chain === head.chain),
    ),
  );
  const rows = chained.flat();
  const moved = chained.flatMap((one) => one.at(-1) ?? []);
  await Promise.all([
    ...moved.map(({ chain, sequence, hash }) => tx.update(auditHeads).set({ sequence, hash }).where(eq(auditHeads.chain, chain))),
    tx.insert(auditEvents).values(rows),
  ]);
  metrics().auditEvents.inc(rows.length);
  return rows;
}

/** The time of the database. Read it after taking locks. */
export async function clock(tx: Pick<Tx, "execute">): Promise<Date> {
  const [row] = await tx.execute<{ now: string }>(sql`SELECT clock_timestamp() AS now`);
  return new Date(row!.now);
}
