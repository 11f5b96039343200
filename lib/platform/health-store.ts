import { and, asc, count, eq, min, sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { organization } from "#lib/identity/tables.ts";
import { hasNoOutcome } from "#lib/holds/execution-store.ts";
import { authorizations, executions } from "#lib/holds/tables.ts";

/** `overdue` counts the executions whose check is more than a minute late. */
export const countOpen = () =>
  database()
    .select({
      status: executions.settlementStatus,
      count: count(),
      oldest: min(executions.createdAt),
      overdue: sql<string>`count(*) FILTER (WHERE ${executions.nextCheckAt} < clock_timestamp() - interval '1 minute')`,
    })
    .from(executions)
    .where(hasNoOutcome)
    .groupBy(executions.settlementStatus);

export const selectUnknown = (rows: number) =>
  database()
    .select({
      executionId: executions.executionId,
      organizationId: executions.organizationId,
      organizationName: organization.name,
      amount: authorizations.amount,
      asset: authorizations.asset,
      chain: authorizations.chain,
      settlementReference: executions.settlementReference,
      failureDetail: executions.failureDetail,
      attempts: executions.attempts,
      nextCheckAt: executions.nextCheckAt,
      validBefore: executions.validBefore,
      createdAt: executions.createdAt,
    })
    .from(executions)
    .innerJoin(authorizations, eq(authorizations.authorizationId, executions.authorizationId))
    .innerJoin(organization, eq(organization.id, executions.organizationId))
    .where(and(hasNoOutcome, eq(executions.settlementStatus, "unknown")))
    .orderBy(asc(executions.executionId))
    .limit(rows);

/** In seconds from the creation of an execution to its settlement; reads only the newest `among` executions. */
export async function settlementLag(among: number) {
  const [row] = await database().execute<{ count: string; median: number | null; p95: number | null }>(sql`
    SELECT count(*) AS count, percentile_cont(0.5) WITHIN GROUP (ORDER BY lag) AS median,
      percentile_cont(0.95) WITHIN GROUP (ORDER BY lag) AS p95
    FROM (SELECT extract(epoch FROM resolved_at - created_at)::float8 AS lag FROM (
      SELECT resolved_at, created_at, settlement_status FROM executions ORDER BY execution_id DESC LIMIT ${among}) newest
      WHERE settlement_status = 'settled') settled`);
  return { count: Number(row?.count ?? 0), median: row?.median ?? null, p95: row?.p95 ?? null };
}
