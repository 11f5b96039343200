import { and, eq } from "drizzle-orm";
import type { Row } from "postgres";
import type { CheckoutRow, ReviewRow } from "#lib/approvals/checkout-rows.ts";
import { approvalFacts, readLocked } from "#lib/approvals/decision/batch-store.ts";
import type { LockedCheckout } from "#lib/approvals/decision/locked-checkout.ts";
import { checkoutReviews, stepUps } from "#lib/approvals/tables.ts";
import { pool, type Database, type Tx } from "#lib/db/client.ts";
import { resources, sellers } from "#lib/sellers/tables.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

type Db = Database | Tx;

export async function insertStepUps(tx: Tx, rows: (typeof stepUps.$inferInsert)[]): Promise<void> {
  if (rows.length > 0) await tx.insert(stepUps).values(rows);
}

export async function findReview(db: Db, sessionId: string, checkoutIntentId: string): Promise<ReviewRow | null> {
  const [row] = await db
    .select()
    .from(checkoutReviews)
    .where(and(eq(checkoutReviews.sessionId, sessionId), eq(checkoutReviews.checkoutIntentId, checkoutIntentId)));
  return row ?? null;
}

/** Reads the facts with the same SQL as an approval. */
export async function stepUpFacts({ checkoutIntentId, organizationId }: CheckoutRow, sessionId: string): Promise<LockedCheckout> {
  const c = pool();
  const facts = approvalFacts(c, { of: [sessionId], ids: [checkoutIntentId] }, [organizationId]);
  const [row] = await c`SELECT row_to_json(f) AS facts FROM (${facts}) f`;
  return readLocked(row!["facts"] as Row);
}

/** Empty for a seller that is not registered. */
export async function assuranceAskedBySeller(
  db: Db,
  { sellerId, resourceId }: Pick<CheckoutRow, "sellerId" | "resourceId">,
): Promise<readonly AssuranceLevel[]> {
  if (sellerId === null) return [];
  const found = await db
    .select({ seller: sellers.minimumAssuranceLevel, resource: resources.minimumAssuranceLevel })
    .from(sellers)
    .leftJoin(resources, and(eq(resources.sellerId, sellers.sellerId), eq(resources.resourceId, resourceId ?? "")))
    .where(eq(sellers.sellerId, sellerId));
  return found.flatMap(({ seller, resource }) => [seller, ...(resource === null ? [] : [resource])]) as AssuranceLevel[];
}
