import { createHash } from "node:crypto";
import type { PendingSettlementStore } from "@x402/core/facilitator";
import { and, asc, eq, inArray, lte, sql } from "drizzle-orm";
import { database, type Tx } from "#lib/db/client.ts";
import { executions } from "#lib/payments/tables.ts";
import { pendingSettlements } from "#lib/settlement/tables.ts";
import type { ExecutionRow } from "#lib/payments/execution-store.ts";

const keyOf = (signature: string): string => createHash("sha256").update(signature).digest("hex");

/** Shared by every process: a repeat that lands elsewhere follows the transaction that is under way. */
export const pendingSettlementStore: PendingSettlementStore = {
  async get(signature) {
    const [row] = await database()
      .select({ transaction: pendingSettlements.transaction })
      .from(pendingSettlements)
      .where(eq(pendingSettlements.key, keyOf(signature)));
    return row?.transaction;
  },
  async set(signature, transaction) {
    await database()
      .insert(pendingSettlements)
      .values({ key: keyOf(signature), transaction })
      .onConflictDoUpdate({ target: pendingSettlements.key, set: { transaction } });
  },
  async delete(signature) {
    await database()
      .delete(pendingSettlements)
      .where(eq(pendingSettlements.key, keyOf(signature)));
  },
};

/**
 * Takes due executions off the queue for a while: a lease, not a lock. The transaction only moves next_check_at, so a
 * worker that dies costs its lease and nothing else.
 */
export async function leaseDue(tx: Tx, limit: number, leaseMs: number): Promise<readonly ExecutionRow[]> {
  const due = await tx
    .select({ executionId: executions.executionId })
    .from(executions)
    .where(
      and(
        inArray(executions.settlementStatus, ["pending", "processing", "unknown"]),
        lte(executions.nextCheckAt, sql`clock_timestamp()`),
      ),
    )
    .orderBy(asc(executions.nextCheckAt))
    .limit(limit)
    .for("update", { skipLocked: true });
  if (due.length === 0) return [];
  return tx
    .update(executions)
    .set({
      nextCheckAt: sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`,
      attempts: sql`${executions.attempts} + 1`,
    })
    .where(
      inArray(
        executions.executionId,
        due.map((row) => row.executionId),
      ),
    )
    .returning();
}
