import { and, asc, desc, eq, inArray, isNull, lte, not, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { after, isRecent, leaseEnded } from "#lib/db/leases.ts";
import { executions } from "#lib/holds/tables.ts";
import type { ExecutionRow } from "#lib/holds/execution-store.ts";
import { plainSettlements } from "#lib/settlement/tables.ts";
import type { Environment } from "#lib/vocabulary.ts";
import type { Credential } from "#lib/x402/credential.ts";

/** Moves next_check_at: the executions of a worker that dies are due again after the lease. */
export async function leaseChecks(tx: Tx, limit: number, leaseMs: number): Promise<readonly ExecutionRow[]> {
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
      nextCheckAt: after(leaseMs),
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

/** The newest execution with the nonce of this credential. A refused execution stores no nonce, so it is not found. */
export async function executionOfCredential(
  db: Database | Tx,
  { payer, nonce, token }: Credential,
  authorizationId: string,
): Promise<ExecutionRow | null> {
  const [row] = await db
    .select()
    .from(executions)
    .where(
      and(
        eq(executions.payer, payer),
        eq(executions.nonce, nonce),
        eq(executions.tokenAddress, token),
        eq(executions.authorizationId, authorizationId),
      ),
    )
    .orderBy(desc(executions.executionId))
    .limit(1);
  return row ?? null;
}

/** True only the first time, because /settle answers success only once. */
export async function handOverExecution(tx: Tx, executionId: string): Promise<boolean> {
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

/** The inserting request takes the lease, so that no other request sends the settlement meanwhile. */
export async function insertPlainSettlement(
  tx: Tx,
  row: Omit<typeof plainSettlements.$inferInsert, "workedUntil">,
  leaseMs: number,
): Promise<void> {
  const workedUntil = after(leaseMs) as unknown as Date;
  await tx.insert(plainSettlements).values({ ...row, workedUntil });
}

export async function findPlainSettlement(db: Database | Tx, settlementId: string): Promise<PlainSettlement | null> {
  const [row] = await db.select().from(plainSettlements).where(eq(plainSettlements.settlementId, settlementId));
  return row ?? null;
}

/** Returns false if the outcome is already final. With status processing, a known transaction is not overwritten with null. */
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
  const resolvedAt = isOpen ? null : sql`statement_timestamp()`;
  const known = isOpen && transaction === null ? {} : { transaction };
  const rows = await tx
    .update(plainSettlements)
    .set({ status, ...known, errorReason, resolvedAt })
    .where(and(eq(plainSettlements.settlementId, settlementId), eq(plainSettlements.status, "processing")))
    .returning({ settlementId: plainSettlements.settlementId });
  return rows.length === 1;
}

/** Returns false if the settlement is already assigned to an authorization. */
export async function adoptPlainSettlement(tx: Tx, settlementId: string, authorizationId: string): Promise<boolean> {
  const rows = await tx
    .update(plainSettlements)
    .set({ authorizationId })
    .where(and(eq(plainSettlements.settlementId, settlementId), isNull(plainSettlements.authorizationId)))
    .returning({ settlementId: plainSettlements.settlementId });
  return rows.length === 1;
}

/** Takes the lease after the earlier one has ended. Of several requests at the same time, only one gets true. */
export async function takeWork(tx: Tx, settlementId: string, leaseMs: number): Promise<boolean> {
  const rows = await tx
    .update(plainSettlements)
    .set({ workedUntil: after(leaseMs) })
    .where(
      and(
        eq(plainSettlements.settlementId, settlementId),
        eq(plainSettlements.status, "processing"),
        leaseEnded(plainSettlements.workedUntil, leaseMs),
      ),
    )
    .returning({ settlementId: plainSettlements.settlementId });
  return rows.length === 1;
}

/** Call this if it is not known whether anything was sent: the next repeated request may send the settlement. */
export async function endWork(tx: Tx, settlementId: string): Promise<void> {
  await tx
    .update(plainSettlements)
    .set({ workedUntil: sql`statement_timestamp()` })
    .where(eq(plainSettlements.settlementId, settlementId));
}

/** True only the first time, because /settle answers success only once. `atReceipt` includes settlements in processing. */
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

export async function openPlainSettlements(
  db: Database,
  olderThanMs: number,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<readonly PlainSettlement[]> {
  return db
    .select()
    .from(plainSettlements)
    .where(and(eq(plainSettlements.status, "processing"), not(isRecent(plainSettlements.createdAt, olderThanMs))))
    .orderBy(asc(plainSettlements.createdAt), asc(plainSettlements.settlementId))
    .offset(offset)
    .limit(limit);
}

export async function findAnyExecution(tx: Tx, environment: Environment, executionId: string) {
  const [row] = await tx
    .select({ organizationId: executions.organizationId, subjectId: executions.subjectId })
    .from(executions)
    .where(and(eq(executions.executionId, executionId), eq(executions.environment, environment)));
  return row ?? null;
}

/** Makes the next check of an execution due now. Returns false if the execution is already settled or failed. */
export async function hastenCheck(tx: Tx, executionId: string): Promise<boolean> {
  const rows = await tx
    .update(executions)
    .set({ nextCheckAt: sql`statement_timestamp()` })
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
