import type { AuditEvent, ChainedEvent } from "#lib/audit/chain.ts";
import { appendEvents, clock, type PendingEvent } from "#lib/audit/store.ts";
import { database, type Database, type Tx } from "#lib/db/client.ts";
import { endedBeforeCommit } from "#lib/db/failure.ts";
import { newId } from "#lib/ids.ts";

export type NewEvent = Omit<AuditEvent, "auditEventId" | "createdAt" | "organizationId" | "subjectId"> & {
  readonly organizationId: string | null;
  readonly subjectId?: string | null;
};

const noted = new WeakMap<Tx, PendingEvent[]>();

/** writeNoted stores the event later, because the locks of the audit logs must be taken last. */
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

/** Stores the events of audit(). It locks the audit logs, so call it after all other locks; only emergencyRevoke does not. */
export async function writeNoted(tx: Tx): Promise<readonly ChainedEvent[]> {
  return appendEvents(tx, noted.get(tx)?.splice(0) ?? []);
}

/** `work` must not call the network, because the transaction keeps its locks until `work` has ended. */
export async function transact<T>(work: (tx: Tx) => Promise<T>, on: Database = database()): Promise<T> {
  return on.transaction(async (tx) => {
    noted.set(tx, []);
    const result = await work(tx);
    await writeNoted(tx);
    return result;
  });
}

const AGAIN_MS = 3_000;

/** Runs `work` once more if the connection soon ends before COMMIT is sent. `work` must change nothing but the database. */
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
