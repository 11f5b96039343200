import { and, eq, gte, inArray, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { firstIdAt } from "#lib/ids.ts";
import { mandates, resolutions } from "#lib/mandates/tables.ts";
import { ID_SLACK_MS } from "#lib/pages/id-slack.ts";

/** In atomic units, with the buyer's share of the fees. Ids sort by time, so the range of ledger ids limits what is read. */
export function selectSpending(tx: Tx, scope: Scope, since: Date) {
  const from = firstIdAt("ledger", new Date(since.getTime() - ID_SLACK_MS));
  const day = sql<string>`to_char(${resolutions.createdAt} AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;
  const countersigned = sql<boolean>`EXISTS (SELECT FROM checkout_approvals c
    WHERE c.authorization_id = ${resolutions.authorizationId} AND c.status <> 'rejected')`;
  return tx
    .select({
      day: day.as("day"),
      asset: mandates.asset,
      chain: mandates.chain,
      countersigned: countersigned.as("countersigned"),
      amount: sql<string>`sum(${resolutions.amount})::text`,
      payments: sql<number>`count(DISTINCT ${resolutions.authorizationId})::int`,
    })
    .from(mandates)
    .innerJoin(resolutions, and(eq(resolutions.mandateId, mandates.mandateId), gte(resolutions.ledgerId, from)))
    .where(and(within(mandates, scope), inArray(resolutions.kind, ["capture", "overrun"]), gte(resolutions.createdAt, since)))
    .groupBy(sql`1`, mandates.asset, mandates.chain, sql`4`);
}

export const selectHeld = (tx: Tx, scope: Scope) =>
  tx
    .select({ asset: mandates.asset, chain: mandates.chain, amount: sql<string>`sum(${mandates.reserved})::text` })
    .from(mandates)
    .where(within(mandates, scope))
    .groupBy(mandates.asset, mandates.chain);
