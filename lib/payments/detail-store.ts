import { and, asc, eq, gt, inArray, lt } from "drizzle-orm";
import { REQUEST_MOST_MS } from "#lib/approvals/decision/approval.ts";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { auditEvents } from "#lib/audit/tables.ts";
import { orders } from "#lib/approvals/tables.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { authorizations } from "#lib/holds/tables.ts";
import { firstIdAt } from "#lib/ids.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { sellers } from "#lib/sellers/tables.ts";

/* Queries of the payment page. All but sellerToday filter by organization. */

const EVENTS_MAX = 100;

export const eventsOf = (tx: Tx, { organizationId }: Scope, entityIds: readonly string[]) =>
  tx
    .select({
      type: auditEvents.type,
      entityId: auditEvents.entityId,
      metadata: auditEvents.metadata,
      createdAt: auditEvents.createdAt,
    })
    .from(auditEvents)
    .where(and(inArray(auditEvents.entityId, [...entityIds]), eq(auditEvents.chain, organizationId)))
    .orderBy(asc(auditEvents.sequence))
    .limit(EVENTS_MAX);

const REPEATS_MAX = 20;

/**
 * The later payments that are answered with this payment's request, oldest first. The index of payments that are not allowed
 * finds them: their ids are between this payment's and the last time at which its request can be open.
 */
export const repeatsOf = (
  db: Database | Tx,
  { organizationId }: Pick<Scope, "organizationId">,
  { checkoutIntentId, authorizationId, createdAt }: CheckoutRow,
) =>
  db
    .select({ authorizationId: authorizations.authorizationId, subjectId: authorizations.subjectId })
    .from(authorizations)
    .where(
      and(
        eq(authorizations.organizationId, organizationId),
        eq(authorizations.outcome, "requireApproval"),
        gt(authorizations.authorizationId, authorizationId ?? ""),
        lt(authorizations.authorizationId, firstIdAt("authorization", new Date(createdAt.getTime() + REQUEST_MOST_MS))),
        eq(authorizations.checkoutIntentId, checkoutIntentId),
      ),
    )
    .orderBy(asc(authorizations.authorizationId))
    .limit(REPEATS_MAX);

export async function orderOf(tx: Tx, scope: Scope, authorizationId: string) {
  const [order] = await tx
    .select({ orderId: orders.orderId, status: orders.status, answer: orders.answer, updatedAt: orders.updatedAt })
    .from(orders)
    .where(and(eq(orders.authorizationId, authorizationId), within(orders, scope)));
  return order ?? null;
}

export async function mandateOf(tx: Tx, { organizationId }: Scope, mandateId: string) {
  const [mandate] = await tx
    .select({ name: mandates.name, version: mandates.version })
    .from(mandates)
    .where(and(eq(mandates.mandateId, mandateId), eq(mandates.organizationId, organizationId)));
  return mandate ?? null;
}

export async function sellerToday(tx: Tx, sellerId: string | null) {
  if (sellerId === null) return null;
  const [seller] = await tx
    .select({ name: sellers.name, domain: sellers.domain, verified: sellers.verified })
    .from(sellers)
    .where(eq(sellers.sellerId, sellerId));
  return seller ?? null;
}
