import { sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { createBuckets, requireAllowed } from "#lib/http/rate-limit.ts";
import { perProcess } from "#lib/process.ts";

/**
 * The number of the revocation gate. The gate is a PostgreSQL advisory lock: payments take it as a shared lock and revocations as
 * an exclusive one, so that no payment runs during a revocation.
 */
export const GATE = 0x636f756e;

/**
 * Takes the revocation gate as a shared lock. Each transaction that executes or submits a payment calls this first and reads the
 * statuses of mandates and agents afterwards, so that it sees every revocation that was committed. Batches of authorizations take
 * the same lock in their own statement (beginToWrite).
 */
export const enterGate = async (tx: Tx): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock_shared(${GATE}::bigint)`);
};

/**
 * The maximum number of revocations a second that each process allows for one organization, person or network address. There is
 * a limit, because each revocation pauses all payments for a moment.
 */
const CLOSINGS_PER_SECOND = 50;

const perOrganization = () => perProcess("rateLimit.gate", () => createBuckets("organization", CLOSINGS_PER_SECOND));

/**
 * Takes the exclusive lock that keeps all payments out while rights are removed. Each transaction of this service that takes
 * rights away calls this first, except the emergency stop, which calls closeGateAtOnce. PostgreSQL grants locks in the order in
 * which they are requested, so this transaction does not wait for payments that start after it.
 * @throws Problem rate_limited
 */
export const closeGate = async (tx: Tx, whose: string): Promise<void> => {
  requireAllowed(perOrganization()(whose));
  await closeGateAtOnce(tx);
};

/**
 * Takes the exclusive lock without the rate limit of closeGate. Besides closeGate, only an administrator's emergency stop calls
 * it, which has its own rate limit.
 */
export const closeGateAtOnce = async (tx: Tx): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${GATE}::bigint)`);
};

/**
 * Waits until all transactions that may have read the old rights have ended. It is called after a library has taken rights away
 * in its own transaction, which cannot call closeGate.
 * @throws Problem rate_limited
 */
export const drainGate = (who: string): Promise<void> => database().transaction((tx) => closeGate(tx, who));
