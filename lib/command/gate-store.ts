import { sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { createBuckets, requireAllowed } from "#lib/http/rate-limit.ts";
import { perProcess } from "#lib/process.ts";

/** The revocation gate, an advisory lock: shared for payments and other work, exclusive for revocations. */
export const GATE = 0x636f756e;

/**
 * Call it in a transaction that executes or submits a payment before it reads the statuses of mandates and agents, so that it
 * sees every committed revocation. Batches of authorizations take the same lock in their own statement (beginToWrite).
 */
export const enterGate = async (tx: Tx): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock_shared(${GATE}::bigint)`);
};

/** Each process limits one organization, person or network address, because each revocation pauses all payments briefly. */
const CLOSINGS_PER_SECOND = 50;

const perOrganization = () => perProcess("command/gate-store", () => createBuckets("organization", CLOSINGS_PER_SECOND));

/**
 * Call it first in a transaction that revokes rights. PostgreSQL grants locks in the order of the requests, so this transaction
 * does not wait for payments that start after it. @throws Problem rate_limited
 */
export const closeGate = async (tx: Tx, whose: string): Promise<void> => {
  requireAllowed(perOrganization()(whose));
  await closeGateAtOnce(tx);
};

/** Has no rate limit; apart from closeGate, only the emergency stop calls this function, and has its own rate limit. */
export const closeGateAtOnce = async (tx: Tx): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${GATE}::bigint)`);
};

/**
 * For rights that a library took away in its own transaction: waits for all transactions that may have read the old rights.
 * @throws Problem rate_limited
 */
export const drainGate = (who: string): Promise<void> => database().transaction((tx) => closeGate(tx, who));
