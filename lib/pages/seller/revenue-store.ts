import { and, eq, gte, sql } from "drizzle-orm";
import { executions } from "#lib/holds/tables.ts";
import {
  executed,
  ownExecutions,
  ownSettlements,
  settled,
  type Columns,
  type Reader,
  type Scope,
} from "#lib/settlement/received-store.ts";
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

const sumsOf = ({ resolvedAt, amount }: Columns) => ({
  day: sql<string>`to_char(${resolvedAt} AT TIME ZONE 'UTC', 'YYYY-MM-DD')`.as("day"),
  amount: sql<string>`sum(${amount})::text`,
  payments: sql<number>`count(*)::int`,
});

export function sumExecutions(db: Reader, scope: Scope, since: Date) {
  const { sellerId, resourceId, chain, asset, tokenAddress, status, resolvedAt } = executed;
  return db
    .select({ ...sumsOf(executed), sellerId, resourceId, chain, asset, tokenAddress })
    .from(executions)
    .where(and(ownExecutions(scope), eq(status, "settled"), gte(resolvedAt, since)))
    .groupBy(sql`1`, sellerId, resourceId, chain, asset);
}

export function sumSettlements(db: Reader, scope: Scope, since: Date) {
  const { sellerId, resourceId, chain, asset, tokenAddress, status, resolvedAt } = settled;
  return db
    .select({ ...sumsOf(settled), sellerId, resourceId, chain, asset, tokenAddress })
    .from(plainSettlements)
    .where(and(ownSettlements(scope), eq(status, "settled"), gte(resolvedAt, since)))
    .groupBy(sql`1`, sellerId, resourceId, chain, tokenAddress);
}
