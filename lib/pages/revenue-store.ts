import { and, eq, gte, sql, type SQL } from "drizzle-orm";
import { executions } from "#lib/holds/tables.ts";
import type { Reader, Scope } from "#lib/settlement/received-store.ts";
import { plainSettlements } from "#lib/settlement/tables.ts";

export type RevenueRow = {
  /** In UTC: "2026-11-21". */
  readonly day: string;
  readonly sellerId: string | null;
  readonly resourceId: string | null;
  readonly chain: string | null;
  readonly asset: string | null;
  readonly tokenAddress: string | null;
  /** Atomic units as text. */
  readonly amount: string;
  readonly payments: number;
};

const day = (column: SQL | typeof executions.resolvedAt) => sql<string>`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;

/** Sums of the payments that settled since `since`, by day and resource. */
export const sumExecutions = (db: Reader, { organizationId, environment }: Scope, since: Date) =>
  db
    .select({
      day: day(executions.resolvedAt).as("day"),
      sellerId: executions.sellerId,
      resourceId: executions.resourceId,
      chain: executions.chain,
      asset: executions.asset,
      tokenAddress: sql<string | null>`NULL`,
      amount: sql<string>`sum(${executions.amount})::text`,
      payments: sql<number>`count(*)::int`,
    })
    .from(executions)
    .where(
      and(
        eq(executions.sellerOrganizationId, organizationId),
        eq(executions.environment, environment),
        eq(executions.settlementStatus, "settled"),
        gte(executions.resolvedAt, since),
      ),
    )
    .groupBy(sql`1`, executions.sellerId, executions.resourceId, executions.chain, executions.asset);

/** The same sums for settlements without a mandate. */
export const sumSettlements = (db: Reader, { organizationId, environment }: Scope, since: Date) =>
  db
    .select({
      day: day(sql`${plainSettlements.resolvedAt}`).as("day"),
      sellerId: plainSettlements.sellerId,
      resourceId: plainSettlements.resourceId,
      chain: plainSettlements.chain,
      asset: sql<string | null>`NULL`,
      tokenAddress: plainSettlements.tokenAddress,
      amount: sql<string>`sum(${plainSettlements.amount})::text`,
      payments: sql<number>`count(*)::int`,
    })
    .from(plainSettlements)
    .where(
      and(
        eq(plainSettlements.organizationId, organizationId),
        eq(plainSettlements.environment, environment),
        eq(plainSettlements.status, "settled"),
        gte(plainSettlements.resolvedAt, since),
      ),
    )
    .groupBy(
      sql`1`,
      plainSettlements.sellerId,
      plainSettlements.resourceId,
      plainSettlements.chain,
      plainSettlements.tokenAddress,
    );
