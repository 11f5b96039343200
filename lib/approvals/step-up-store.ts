import { and, desc, eq, gt, isNull, sql } from "drizzle-orm";
import type { CheckoutRow, ReviewRow } from "#lib/approvals/checkout-rows.ts";
import { checkoutReviews, stepUps } from "#lib/approvals/tables.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { organization, passkey, session } from "#lib/identity/tables.ts";
import { mandates, mandateSellers } from "#lib/mandates/tables.ts";
import { resources, sellers } from "#lib/sellers/tables.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

type Db = Database | Tx;

export async function insertStepUp(tx: Tx, row: typeof stepUps.$inferInsert): Promise<void> {
  await tx.insert(stepUps).values(row);
}

/** The terms that this session was last shown. */
export async function findReview(db: Db, sessionId: string, checkoutIntentId: string): Promise<ReviewRow | null> {
  const [row] = await db
    .select()
    .from(checkoutReviews)
    .where(and(eq(checkoutReviews.sessionId, sessionId), eq(checkoutReviews.checkoutIntentId, checkoutIntentId)));
  return row ?? null;
}

/** The best unused step-up of a session for the checkout's current terms. Keep equal to the query in batch-store.ts. */
async function findStepUp(
  db: Db,
  checkout: Pick<CheckoutRow, "checkoutIntentId" | "basketHash" | "amount" | "payTo">,
  sessionId: string,
  now: Date,
) {
  const { checkoutIntentId, basketHash, amount, payTo } = checkout;
  const signed = sql`${stepUps.basketHash} = ${basketHash} AND ${stepUps.amount} = ${amount.toString()}::numeric AND ${stepUps.payTo} = ${payTo}
    AND EXISTS (SELECT FROM ${passkey} p WHERE p.id = ${stepUps.passkeyId})`;
  const [row] = await db
    .select({ method: stepUps.method })
    .from(stepUps)
    .where(
      and(
        eq(stepUps.checkoutIntentId, checkoutIntentId),
        eq(stepUps.sessionId, sessionId),
        isNull(stepUps.usedAt),
        gt(stepUps.expiresAt, now),
        sql`(${stepUps.method} <> 'passkey' OR (${signed}))`,
      ),
    )
    .orderBy(desc(sql`${stepUps.method} = 'passkey'`), stepUps.stepUpId)
    .limit(1);
  return row ?? null;
}

/** The facts that decide whether a session must step up for a checkout. */
export async function stepUpFacts(db: Db, { organizationId, ...checkout }: CheckoutRow, sessionId: string, now: Date) {
  const [own] = await db.select({ createdAt: session.createdAt }).from(session).where(eq(session.id, sessionId));
  const done = await findStepUp(db, checkout, sessionId, now);
  const [paid] = await db
    .select({ mandateId: mandateSellers.mandateId })
    .from(mandateSellers)
    .innerJoin(mandates, eq(mandates.mandateId, mandateSellers.mandateId))
    .where(
      and(
        eq(mandates.organizationId, organizationId),
        eq(mandateSellers.sellerId, checkout.sellerId ?? `${checkout.domain} ${checkout.payTo.toLowerCase()}`),
      ),
    )
    .limit(1);
  const above = sql`${organization.stepUpAbove} * 10::numeric ^ ${checkout.tokenDecimals}::int < ${checkout.amount.toString()}::numeric`;
  const [over] = await db
    .select({ id: organization.id })
    .from(organization)
    .where(and(eq(organization.id, organizationId), above));
  return {
    aboveThreshold: over !== undefined,
    sessionCreatedAt: own?.createdAt ?? new Date(0),
    sellerPaidBefore: paid !== undefined,
    done: done !== null,
    byPasskey: done?.method === "passkey",
  };
}

/** The levels that the seller and resource of a checkout require, if they are registered. */
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
