import { asc, eq, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { mandates, mandateSellers } from "#lib/mandates/tables.ts";
import { sellers } from "#lib/sellers/tables.ts";

const PAID_MAX = 2_000;

/** At most PAID_MAX payees in the order of their first payments; the domain of a registered seller is its current one. */
export const selectPaid = (tx: Tx, scope: Scope) =>
  tx
    .select({
      name: mandateSellers.sellerId,
      domain: sql<string>`coalesce(${sellers.domain}, split_part(${mandateSellers.sellerId}, ' ', 1))`.as("domain"),
      since: sql<string>`min(${mandateSellers.firstPaidAt})`.mapWith(mandateSellers.firstPaidAt).as("since"),
    })
    .from(mandates)
    .innerJoin(mandateSellers, eq(mandateSellers.mandateId, mandates.mandateId))
    .leftJoin(sellers, eq(sellers.sellerId, mandateSellers.sellerId))
    .where(within(mandates, scope))
    .groupBy(mandateSellers.sellerId, sellers.domain)
    .orderBy(asc(sql`3`))
    .limit(PAID_MAX);
