import { and, asc, eq, inArray, isNull, lt, lte, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import type { ExecutionRow } from "#lib/holds/execution-store.ts";
import { plainSettlements } from "#lib/settlement/tables.ts";
import type { Environment } from "#lib/vocabulary.ts";
import type { Credential } from "#lib/x402/credential.ts";

/**
 * Leases due executions by moving next_check_at; no lock is kept. If a worker dies, its executions are due again when the
 * lease ends.
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

/** The execution that claimed the credential; with several attempts, the live one. */
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

/** True only the first time: /settle reports a settlement to the seller once. */
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

/** The request that inserts the row holds the lease on it. */
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

/** Changes only a settlement in processing. If it stays in processing, a known transaction is not overwritten with null. */
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

/** False if an authorization has adopted the settlement already. */
export async function adoptPlainSettlement(tx: Tx, settlementId: string, authorizationId: string): Promise<boolean> {
  const rows = await tx
    .update(plainSettlements)
    .set({ authorizationId })
    .where(and(eq(plainSettlements.settlementId, settlementId), isNull(plainSettlements.authorizationId)))
    .returning({ settlementId: plainSettlements.settlementId });
  return rows.length === 1;
}

/** Takes a lease that has ended. True for one of several repeated requests, which then sends the settlement again. */
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

/** Ends the lease: as far as is known nothing was sent, so the next repeated request may try. */
export async function endWork(tx: Tx, settlementId: string): Promise<void> {
  await tx
    .update(plainSettlements)
    .set({ workedUntil: sql`clock_timestamp()` })
    .where(eq(plainSettlements.settlementId, settlementId));
}

/** True only the first time: /settle reports a settlement to the seller once, already at its receipt if `atReceipt` is set. */
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

/** Settlements in processing older than `olderThanMs`; a request may still be working on younger ones. */
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

export async function findOpenExecution(tx: Tx, environment: Environment, executionId: string) {
  const [row] = await tx
    .select({ organizationId: executions.organizationId, subjectId: executions.subjectId })
    .from(executions)
    .where(and(eq(executions.executionId, executionId), eq(executions.environment, environment)));
  return row ?? null;
}

/** False if the execution is no longer open. */
export async function hastenCheck(tx: Tx, executionId: string): Promise<boolean> {
  const rows = await tx
    .update(executions)
    .set({ nextCheckAt: sql`clock_timestamp()` })
    .where(
      and(
        eq(executions.executionId, executionId),
        inArray(executions.settlementStatus, ["pending", "processing", "unknown"]),
        isNull(executions.resolvedAt),
      ),
    )
    .returning({ executionId: executions.executionId });
  return rows.length === 1;
}
