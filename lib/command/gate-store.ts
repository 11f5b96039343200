import { sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { createBuckets, requireAllowed } from "#lib/http/rate-limit.ts";
import { perProcess } from "#lib/process.ts";

/** The advisory lock that orders revocations against everything that spends (money.md, Revocation). */
export const GATE = 0x636f756e;

/** Taken first by everything that authorizes, executes or submits; statuses are read after it. */
export const enterGate = async (tx: Tx): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock_shared(${GATE}::bigint)`);
};

/** What one organization, or one person of the platform, may take away in a second, in this process: each time everybody's payments stand still for a moment. */
const CLOSINGS_PER_SECOND = 50;

const perOrganization = () => perProcess("rateLimit.gate", () => createBuckets("organization", CLOSINGS_PER_SECOND));

/**
 * Taken first by everything that takes a right away. Advisory locks queue fairly, so it waits for the open work only.
 * @throws Problem rate_limited
 */
export const closeGate = async (tx: Tx, whose: string): Promise<void> => {
  requireAllowed(perOrganization()(whose));
  await closeGateAtOnce(tx);
};

/** closeGate without its limit, for an emergency, which has one of its own. */
export const closeGateAtOnce = async (tx: Tx): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${GATE}::bigint)`);
};

/** Waits for the open work, after rights were taken away in a transaction that is not ours. @throws Problem rate_limited */
export const drainGate = (who: string): Promise<void> => database().transaction((tx) => closeGate(tx, who));
