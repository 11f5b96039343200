import { and, asc, desc, eq, getTableColumns, gt, lt, lte, notInArray, or, sql } from "drizzle-orm";
import { openStatuses } from "#lib/approvals/checkout-state.ts";
import { checkoutApprovals, checkoutIntents } from "#lib/approvals/tables.ts";
import type { Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { authorizations } from "#lib/holds/tables.ts";
import { mandates } from "#lib/mandates/tables.ts";

/* Queries of the approvals inbox. Every query filters by organization and environment. */

/**
 * The same condition as in the index of waiting checkouts, written in the SQL text. With a parameter, PostgreSQL would not use
 * the index.
 */
const open = sql`${checkoutIntents.status} IN ('previewed', 'awaiting_approval')`;

const { checkoutIntentId, mandateId } = checkoutIntents;

/**
 * Checkouts that nobody has decided and that have not expired; the first to expire comes first. Each has the name of its mandate
 * and the findings of its payment's decision, or null if it has none yet.
 */
export const selectWaiting = (tx: Tx, scope: Scope, now: Date, limit: number) =>
  tx
    .select({ ...getTableColumns(checkoutIntents), mandateName: mandates.name, findings: authorizations.findings })
    .from(checkoutIntents)
    .leftJoin(mandates, and(eq(mandates.mandateId, mandateId), eq(mandates.organizationId, scope.organizationId)))
    .leftJoin(authorizations, eq(authorizations.authorizationId, checkoutIntents.authorizationId))
    .where(and(within(checkoutIntents, scope), open, gt(checkoutIntents.expiresAt, now)))
    .orderBy(asc(checkoutIntents.expiresAt), asc(checkoutIntentId))
    .limit(limit);

export type WaitingRow = Awaited<ReturnType<typeof selectWaiting>>[number];

/** The number of waiting checkouts, counted up to `limit`. */
export async function countWaiting(tx: Tx, scope: Scope, now: Date, limit: number): Promise<number> {
  const waiting = tx
    .select({ checkoutIntentId })
    .from(checkoutIntents)
    .where(and(within(checkoutIntents, scope), open, gt(checkoutIntents.expiresAt, now)))
    .limit(limit);
  const [row] = await tx.select({ count: sql<number>`count(*)::int` }).from(waiting.as("waiting"));
  return row?.count ?? 0;
}

/** The number of checkouts that wait for a decision under one mandate. */
export async function countWaitingUnder(tx: Tx, scope: Scope, mandate: string, now: Date): Promise<number> {
  const [row] = await tx
    .select({ count: sql<number>`count(*)::int` })
    .from(checkoutIntents)
    .where(and(within(checkoutIntents, scope), open, gt(checkoutIntents.expiresAt, now), eq(mandateId, mandate)));
  return row?.count ?? 0;
}

/** Checkouts that no longer wait for a decision, for example because they were decided or have expired, newest first. */
export const selectDecided = (tx: Tx, scope: Scope, now: Date, limit: number, place: string | null) =>
  tx
    .select({
      ...getTableColumns(checkoutIntents),
      mandateName: mandates.name,
      decidedBy: checkoutApprovals.approvedBySubjectId,
      decidedAt: checkoutApprovals.approvedAt,
    })
    .from(checkoutIntents)
    .leftJoin(mandates, and(eq(mandates.mandateId, mandateId), eq(mandates.organizationId, scope.organizationId)))
    .leftJoin(checkoutApprovals, eq(checkoutApprovals.checkoutIntentId, checkoutIntentId))
    .where(
      and(
        within(checkoutIntents, scope),
        or(notInArray(checkoutIntents.status, [...openStatuses]), lte(checkoutIntents.expiresAt, now)),
        place === null ? undefined : lt(checkoutIntentId, place),
      ),
    )
    .orderBy(desc(checkoutIntentId))
    .limit(limit);
