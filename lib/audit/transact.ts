import type { AuditEvent, ChainedEvent } from "#lib/audit/chain.ts";
import { appendEvents, clock, type PendingEvent } from "#lib/audit/store.ts";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { endedBeforeCommit } from "#lib/db/failure.ts";
import { newId } from "#lib/ids.ts";

/** An event before audit() adds its id and time. */
export type NewEvent = Omit<AuditEvent, "auditEventId" | "createdAt" | "organizationId" | "subjectId"> & {
  readonly organizationId: string | null;
  readonly subjectId?: string | null;
};

const noted = new WeakMap<Tx, PendingEvent[]>();

/** Queues an event. It is written at the end of the transaction, because the audit heads must be locked last. Returns the event. */
export function audit(tx: Tx, event: NewEvent, now: Date, chain?: string): AuditEvent {
  const events = noted.get(tx);
  if (!events) throw new Error("audit() needs a transaction opened by transact().");
  const complete = {
    ...event,
    subjectId: event.subjectId ?? null,
    auditEventId: newId("audit"),
    createdAt: now,
    ...(chain !== undefined && { chain }),
  };
  events.push(complete);
  return complete;
}

/**
 * Writes the queued events and returns them. transact() calls it, and once(), which claims its idempotency slot before the audit heads are
 * locked.
 */
export async function writeNoted(tx: Tx): Promise<readonly ChainedEvent[]> {
  return appendEvents(tx, noted.get(tx)?.splice(0) ?? []);
}

/** Runs `work` in one transaction, writes its audit events, then commits. `work` must not call the network. */
export async function transact<T>(work: (tx: Tx) => Promise<T>, on: Database = database()): Promise<T> {
  return on.transaction(async (tx) => {
    noted.set(tx, []);
    const result = await work(tx);
    await writeNoted(tx);
    return result;
  });
}

const AGAIN_MS = 3_000;

/** Like transact, for work that only uses the database: it runs once more if its connection ends before COMMIT is sent. */
export async function transactAgain<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
  const since = performance.now();
  try {
    return await transact(work);
  } catch (error) {
    if (!endedBeforeCommit(error) || performance.now() - since > AGAIN_MS) throw error;
    return transact(work);
  }
}

export { clock };
