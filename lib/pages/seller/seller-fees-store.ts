import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import { fees } from "#lib/billing/tables.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { firstIdAt } from "#lib/ids.ts";
import { ID_SLACK_MS } from "#lib/pages/id-slack.ts";
import { executions } from "#lib/holds/tables.ts";

const sellersShare = (organizationId: string) => and(eq(fees.organizationId, organizationId), eq(fees.side, "seller"));

/** `paid` is null if no settled payment to this organization belongs to the fee. */
export const selectSellerFees = (db: Database | Tx, organizationId: string, place: string | null, limit: number) =>
  db
    .select({
      feeId: fees.feeId,
      createdAt: fees.createdAt,
      amount: fees.amount,
      asset: fees.asset,
      chain: fees.chain,
      resourceId: executions.resourceId,
      paid: executions.amount,
    })
    .from(fees)
    .leftJoin(
      executions,
      and(
        eq(executions.authorizationId, fees.authorizationId),
        eq(executions.sellerOrganizationId, organizationId),
        eq(executions.settlementStatus, "settled"),
      ),
    )
    .where(and(sellersShare(organizationId), place === null ? undefined : lt(fees.feeId, place)))
    .orderBy(desc(fees.feeId))
    .limit(limit);

export const sumSellerFees = (db: Database | Tx, organizationId: string, since: Date) =>
  db
    .select({
      asset: fees.asset,
      chain: fees.chain,
      amount: sql<string>`sum(${fees.amount})::text`,
      fees: sql<number>`count(*)::int`,
    })
    .from(fees)
    .where(
      and(
        sellersShare(organizationId),
        gte(fees.feeId, firstIdAt("fee", new Date(since.getTime() - ID_SLACK_MS))),
        gte(fees.createdAt, since),
      ),
    )
    .groupBy(fees.asset, fees.chain);
