import { sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { createBuckets, requireAllowed } from "#lib/http/rate-limit.ts";
import { perProcess } from "#lib/process.ts";

/** The advisory lock that orders revocations against everything that spends (money.md, Revocation). */
export const GATE = 0x636f756e;

/** Shared lock: every transaction that authorizes, executes or submits takes it first, and reads statuses after it. */
export const enterGate = async (tx: Tx): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock_shared(${GATE}::bigint)`);
};

/** Revocations per second for one organization or platform person, per process. Each one pauses all payments for a moment. */
const CLOSINGS_PER_SECOND = 50;

const perOrganization = () => perProcess("rateLimit.gate", () => createBuckets("organization", CLOSINGS_PER_SECOND));

/**
 * Exclusive lock: every transaction that takes a right away takes it first. Advisory locks queue fairly, so it waits only for open work.
 * @throws Problem rate_limited
 */
export const closeGate = async (tx: Tx, whose: string): Promise<void> => {
  requireAllowed(perOrganization()(whose));
  await closeGateAtOnce(tx);
};

/** closeGate without its rate limit, for an emergency stop, which has its own. */
export const closeGateAtOnce = async (tx: Tx): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${GATE}::bigint)`);
};

/** Waits for open work after a library took rights away in its own transaction, without the gate. @throws Problem rate_limited */
export const drainGate = (who: string): Promise<void> => database().transaction((tx) => closeGate(tx, who));
