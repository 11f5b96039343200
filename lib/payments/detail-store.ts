import { and, asc, eq, inArray } from "drizzle-orm";
import { auditEvents } from "#lib/audit/tables.ts";
import { orders } from "#lib/approvals/tables.ts";
import type { Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
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
