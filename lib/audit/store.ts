import { asc, eq, inArray, sql } from "drizzle-orm";
import { chainEvents, genesis, type AuditEvent, type ChainedEvent } from "#lib/audit/chain.ts";
import { auditEvents, auditHeads } from "#lib/audit/tables.ts";
import type { Tx } from "#lib/db/client.ts";
import { metrics } from "#lib/http/metrics.ts";

/** Appends to the chains concerned, their heads locked in the order of their names: the last lock that a transaction takes. */
export async function appendEvents(
  tx: Tx,
  events: readonly (AuditEvent & { readonly chain: string })[],
): Promise<readonly ChainedEvent[]> {
  if (events.length === 0) return [];
  const chains = [...new Set(events.map((event) => event.chain))].toSorted();
  await tx
    .insert(auditHeads)
    .values(chains.map((chain) => ({ chain, ...genesis })))
    .onConflictDoNothing();
  const heads = await tx
    .select()
    .from(auditHeads)
    .where(inArray(auditHeads.chain, chains))
    .orderBy(asc(auditHeads.chain))
    .for("no key update");
  const rows: ChainedEvent[] = [];
  for (const head of heads) {
    const chained = chainEvents(
      head.chain,
      head,
      events.filter((event) => event.chain === head.chain),
    );
    rows.push(...chained);
    const last = chained.at(-1);
    if (last)
      await tx.update(auditHeads).set({ sequence: last.sequence, hash: last.hash }).where(eq(auditHeads.chain, head.chain));
  }
  await tx.insert(auditEvents).values(rows);
  metrics().auditEvents.inc(rows.length);
  return rows;
}

/** The database's clock, read after the locks were taken. */
export async function clock(tx: Pick<Tx, "execute">): Promise<Date> {
  const [row] = await tx.execute<{ now: string }>(sql`SELECT clock_timestamp() AS now`);
  return new Date(row!.now);
}
