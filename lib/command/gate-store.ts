import { sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { createBuckets, requireAllowed } from "#lib/http/rate-limit.ts";
import { perProcess } from "#lib/process.ts";

/** The id of the gate, an advisory lock that puts revocations in order with everything that spends (money.md, Revocation). */
export const GATE = 0x636f756e;

/** Takes the gate as a shared lock. Each transaction that authorizes, executes or submits takes it first, and reads statuses after it. */
export const enterGate = async (tx: Tx): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock_shared(${GATE}::bigint)`);
};

/** Revocations per second for one organization or platform person, per process. Each one pauses all payments for a moment. */
const CLOSINGS_PER_SECOND = 50;

const perOrganization = () => perProcess("rateLimit.gate", () => createBuckets("organization", CLOSINGS_PER_SECOND));

/**
 * Takes the gate as an exclusive lock. Each transaction that takes rights away takes it first. Advisory locks are granted in order of
 * arrival, so it waits only for transactions that already have the gate.
 * @throws Problem rate_limited
 */
export const closeGate = async (tx: Tx, whose: string): Promise<void> => {
  requireAllowed(perOrganization()(whose));
  await closeGateAtOnce(tx);
};

/** Like closeGate without its rate limit. For an emergency stop, which has a limit of its own. */
export const closeGateAtOnce = async (tx: Tx): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${GATE}::bigint)`);
};

/**
 * Waits until transactions that may have read the old rights have ended. For a library that takes rights away in its own transaction,
 * without the gate.
 * @throws Problem rate_limited
 */
export const drainGate = (who: string): Promise<void> => database().transaction((tx) => closeGate(tx, who));
