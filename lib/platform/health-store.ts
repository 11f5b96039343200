import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import { executions } from "#lib/payments/tables.ts";
import type { Environment } from "#lib/vocabulary.ts";

export async function findOpenExecution(tx: Tx, environment: Environment, executionId: string) {
  const [row] = await tx
    .select({ organizationId: executions.organizationId, subjectId: executions.subjectId })
    .from(executions)
    .where(and(eq(executions.executionId, executionId), eq(executions.environment, environment)));
  return row ?? null;
}

/** False where nothing is open any more. */
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
