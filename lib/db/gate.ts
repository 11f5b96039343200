import { sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";

/** The advisory lock that orders revocations against everything that spends (money.md, Revocation). */
export const GATE = 0x636f756e;

/** Taken first by everything that authorizes, executes or submits; statuses are read after it. */
export const enterGate = async (tx: Tx): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock_shared(${GATE}::bigint)`);
};

/** Taken first by everything that takes a right away. Advisory locks queue fairly, so it waits for the open work only. */
export const closeGate = async (tx: Tx): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${GATE}::bigint)`);
};
