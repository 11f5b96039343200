import { and, asc, desc, eq, getTableColumns, gt, lt, lte, notInArray, or, sql } from "drizzle-orm";
import { openStatuses } from "#lib/approvals/checkout-state.ts";
import { checkoutApprovals, checkoutIntents } from "#lib/approvals/tables.ts";
import type { Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { authorizations } from "#lib/holds/tables.ts";
import { mandates } from "#lib/mandates/tables.ts";

/** Without parameters, so that PostgreSQL finds that the index of waiting checkouts fits. */
const open = sql`${checkoutIntents.status} IN ('previewed', 'awaiting_approval')`;

const { checkoutIntentId, mandateId } = checkoutIntents;

/** The first to expire comes first; `findings` is null if no payment was decided yet. */
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

export async function countWaiting(tx: Tx, scope: Scope, now: Date, limit: number): Promise<number> {
  const waiting = tx
    .select({ checkoutIntentId })
    .from(checkoutIntents)
    .where(and(within(checkoutIntents, scope), open, gt(checkoutIntents.expiresAt, now)))
    .limit(limit);
  const [row] = await tx.select({ count: sql<number>`count(*)::int` }).from(waiting.as("waiting"));
  return row?.count ?? 0;
}

export async function countWaitingUnder(tx: Tx, scope: Scope, mandate: string, now: Date): Promise<number> {
  const [row] = await tx
    .select({ count: sql<number>`count(*)::int` })
    .from(checkoutIntents)
    .where(and(within(checkoutIntents, scope), open, gt(checkoutIntents.expiresAt, now), eq(mandateId, mandate)));
  return row?.count ?? 0;
}

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
