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
      subjectId: authorizations.subjectId,
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
      /**
       * Whether the payment was decided for an order or for an approval. Such an authorization has a slot that begins with
       * "also ", because the whole reply to the caller is stored under another slot.
       */
      ofPurchase: sql<boolean>`starts_with(${authorizations.slot}, 'also ')`,
      holdStatus: sql<string | null>`CASE WHEN ${authorizations.held} THEN coalesce(${changedReservations.status}, 'held') END`,
    })
    .from(authorizations)
    .leftJoin(changedReservations, eq(changedReservations.authorizationId, authorizations.authorizationId));

/** Reads the last decisions under a mandate, newest first, each with its hold (the reserved amount) if it has one. */
export const selectDecisions = (tx: Tx, mandateId: string, last: number) =>
  decisions(tx).where(eq(authorizations.mandateId, mandateId)).orderBy(desc(authorizations.authorizationId)).limit(last);

export type PastDecision = Awaited<ReturnType<typeof selectDecisions>>[number];

/**
 * Reads one decision under a mandate. The query does not filter by organization, so the caller must have checked that the
 * mandate belongs to the organization.
 */
export async function findDecision(tx: Tx, mandateId: string, authorizationId: string): Promise<PastDecision | null> {
  const [row] = await decisions(tx).where(
    and(eq(authorizations.authorizationId, authorizationId), eq(authorizations.mandateId, mandateId)),
  );
  return row ?? null;
}

/** Reads the newest payments of an organization that were denied. */
export const selectDenied = (tx: Tx, scope: Scope, last: number) =>
  tx
    .select({ authorizationId: authorizations.authorizationId, mandateId: authorizations.mandateId })
    .from(authorizations)
    .where(and(within(authorizations, scope), eq(authorizations.outcome, "deny")))
    .orderBy(desc(authorizations.authorizationId))
    .limit(last);

/** Reads when the mandate first paid each seller. */
export async function firstPayments(tx: Tx, mandateId: string): Promise<ReadonlyMap<string, Date>> {
  const rows = await tx.select().from(mandateSellers).where(eq(mandateSellers.mandateId, mandateId));
  return new Map(rows.map(({ sellerId, firstPaidAt }) => [sellerId, firstPaidAt]));
}

const SUBMITTED_MAX = 200;

/**
 * Reads the ids of at most 200 executions of the mandate whose payment was sent and has no final outcome, oldest first. A
 * revocation cannot stop these payments, so it lists them for the buyer.
 */
export async function submittedExecutions(tx: Tx, mandateId: string): Promise<string[]> {
  const rows = await tx
    .select({ executionId: executions.executionId })
    .from(executions)
    .where(and(eq(executions.mandateId, mandateId), inArray(executions.settlementStatus, ["pending", "processing", "unknown"])))
    .orderBy(asc(executions.executionId))
    .limit(SUBMITTED_MAX);
  return rows.map(({ executionId }) => executionId);
}
