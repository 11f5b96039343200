import { and, asc, desc, eq, inArray, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { mandateSellers } from "#lib/mandates/tables.ts";
import { wholeIntent } from "#lib/holds/authorization-store.ts";
import { authorizations, changedReservations, executions } from "#lib/holds/tables.ts";

const decisions = (tx: Tx) =>
  tx
    .select({
      authorizationId: authorizations.authorizationId,
      mandateId: authorizations.mandateId,
      subjectId: authorizations.subjectId,
      denialCode: authorizations.denialCode,
      outcome: authorizations.outcome,
      intent: wholeIntent,
      findings: authorizations.findings,
      amount: authorizations.amount,
      asset: authorizations.asset,
      chain: authorizations.chain,
      buyerShare: authorizations.buyerShare,
      sellerShare: authorizations.sellerShare,
      sellerId: authorizations.sellerId,
      resourceId: authorizations.resourceId,
      payTo: authorizations.payTo,
      createdAt: authorizations.createdAt,
      /** The slot begins with "also " for an order or an approval, because their replies are stored elsewhere. */
      ofPurchase: sql<boolean>`starts_with(${authorizations.slot}, 'also ')`,
      holdStatus: sql<string | null>`CASE WHEN ${authorizations.held} THEN coalesce(${changedReservations.status}, 'held') END`,
    })
    .from(authorizations)
    .leftJoin(changedReservations, eq(changedReservations.authorizationId, authorizations.authorizationId));

export const selectDecisions = (tx: Tx, mandateId: string, last: number) =>
  decisions(tx).where(eq(authorizations.mandateId, mandateId)).orderBy(desc(authorizations.authorizationId)).limit(last);

export type PastDecision = Awaited<ReturnType<typeof selectDecisions>>[number];

/** The caller must have checked that the mandate belongs to the organization, which this query does not check. */
export async function findDecision(tx: Tx, mandateId: string, authorizationId: string): Promise<PastDecision | null> {
  const [row] = await decisions(tx).where(
    and(eq(authorizations.authorizationId, authorizationId), eq(authorizations.mandateId, mandateId)),
  );
  return row ?? null;
}

/** Newest first. */
export const selectDenied = (tx: Tx, scope: Scope, last: number) =>
  decisions(tx)
    .where(and(within(authorizations, scope), eq(authorizations.outcome, "deny")))
    .orderBy(desc(authorizations.authorizationId))
    .limit(last);

export async function firstPayments(tx: Tx, mandateId: string): Promise<ReadonlyMap<string, Date>> {
  const rows = await tx.select().from(mandateSellers).where(eq(mandateSellers.mandateId, mandateId));
  return new Map(rows.map(({ sellerId, firstPaidAt }) => [sellerId, firstPaidAt]));
}

const SUBMITTED_MAX = 200;

/** At most 200, oldest first. A revocation lists these payments for the buyer, because they may still be made. */
export async function submittedExecutions(tx: Tx, mandateId: string): Promise<string[]> {
  const rows = await tx
    .select({ executionId: executions.executionId })
    .from(executions)
    .where(and(eq(executions.mandateId, mandateId), inArray(executions.settlementStatus, ["pending", "processing", "unknown"])))
    .orderBy(asc(executions.executionId))
    .limit(SUBMITTED_MAX);
  return rows.map(({ executionId }) => executionId);
}
