import { and, asc, eq, inArray, isNull, lt, lte, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import type { ExecutionRow } from "#lib/holds/execution-store.ts";
import { plainSettlements } from "#lib/settlement/tables.ts";
import type { Credential } from "#lib/x402/credential.ts";

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
        inArray(executions.settlementStatus, ["pending", "processing", "unknown", "settled"]),
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

/** The execution that a credential was claimed for; of several attempts the live one. */
export async function executionOfCredential(
  db: Database | Tx,
  { payer, nonce, token }: Credential,
  authorizationId: string,
): Promise<ExecutionRow | null> {
  const rows = await db
    .select()
    .from(executions)
    .where(
      and(
        eq(executions.payer, payer),
        eq(executions.nonce, nonce),
        eq(executions.tokenAddress, token),
        eq(executions.authorizationId, authorizationId),
      ),
    );
  return rows[0] ?? null;
}

/** True once: the seller hears of a settlement of ours a single time. */
export async function handOver(tx: Tx, executionId: string): Promise<boolean> {
  const rows = await tx
    .update(executions)
    .set({ handedOver: true })
    .where(
      and(eq(executions.executionId, executionId), eq(executions.handedOver, false), eq(executions.settlementStatus, "settled")),
    )
    .returning({ executionId: executions.executionId });
  return rows.length === 1;
}

export type PlainSettlement = typeof plainSettlements.$inferSelect;

/** Worked on for as long as the lease, by the request that records it. */
export async function insertPlainSettlement(
  tx: Tx,
  row: Omit<typeof plainSettlements.$inferInsert, "workedUntil">,
  leaseMs: number,
): Promise<void> {
  const workedUntil = sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'` as unknown as Date;
  await tx.insert(plainSettlements).values({ ...row, workedUntil });
}

export async function findPlainSettlement(db: Database | Tx, settlementId: string): Promise<PlainSettlement | null> {
  const [row] = await db.select().from(plainSettlements).where(eq(plainSettlements.settlementId, settlementId));
  return row ?? null;
}

/** Only what is still open is resolved. What is open keeps the transaction that is known of it. */
export async function resolvePlainSettlement(
  tx: Tx,
  settlementId: string,
  {
    status,
    transaction,
    errorReason,
  }: {
    readonly status: "settled" | "failed" | "processing";
    readonly transaction: string | null;
    readonly errorReason: string | null;
  },
): Promise<boolean> {
  const isOpen = status === "processing";
  const resolvedAt = isOpen ? null : sql`clock_timestamp()`;
  const known = isOpen && transaction === null ? {} : { transaction };
  const rows = await tx
    .update(plainSettlements)
    .set({ status, ...known, errorReason, resolvedAt })
    .where(and(eq(plainSettlements.settlementId, settlementId), eq(plainSettlements.status, "processing")))
    .returning({ settlementId: plainSettlements.settlementId });
  return rows.length === 1;
}

/** False where another authorization has it. */
export async function adoptPlainSettlement(tx: Tx, settlementId: string, authorizationId: string): Promise<boolean> {
  const rows = await tx
    .update(plainSettlements)
    .set({ authorizationId })
    .where(and(eq(plainSettlements.settlementId, settlementId), isNull(plainSettlements.authorizationId)))
    .returning({ settlementId: plainSettlements.settlementId });
  return rows.length === 1;
}

/** True for one of several repeats: it sends what nobody works on any more. */
export async function takeWork(tx: Tx, settlementId: string, leaseMs: number): Promise<boolean> {
  const rows = await tx
    .update(plainSettlements)
    .set({ workedUntil: sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'` })
    .where(
      and(
        eq(plainSettlements.settlementId, settlementId),
        eq(plainSettlements.status, "processing"),
        lte(plainSettlements.workedUntil, sql`clock_timestamp()`),
      ),
    )
    .returning({ settlementId: plainSettlements.settlementId });
  return rows.length === 1;
}

/** Nothing was sent, as far as is known: the next repeat may try. */
export async function endWork(tx: Tx, settlementId: string): Promise<void> {
  await tx
    .update(plainSettlements)
    .set({ workedUntil: sql`clock_timestamp()` })
    .where(eq(plainSettlements.settlementId, settlementId));
}

/** True once: the seller hears of a settlement a single time, at its receipt where the chain's configuration says so. */
export async function handOverPlain(tx: Tx, settlementId: string, atReceipt: boolean): Promise<boolean> {
  const rows = await tx
    .update(plainSettlements)
    .set({ handedOver: true })
    .where(
      and(
        eq(plainSettlements.settlementId, settlementId),
        eq(plainSettlements.handedOver, false),
        inArray(plainSettlements.status, atReceipt ? ["processing", "settled"] : ["settled"]),
      ),
    )
    .returning({ settlementId: plainSettlements.settlementId });
  return rows.length === 1;
}

/** Those that a request of a moment ago does not answer any more. */
export async function openPlainSettlements(
  db: Database,
  olderThanMs: number,
  limit: number,
): Promise<readonly PlainSettlement[]> {
  return db
    .select()
    .from(plainSettlements)
    .where(
      and(
        eq(plainSettlements.status, "processing"),
        lt(plainSettlements.createdAt, sql`clock_timestamp() - ${olderThanMs} * interval '1 millisecond'`),
      ),
    )
    .orderBy(asc(plainSettlements.createdAt))
    .limit(limit);
}
