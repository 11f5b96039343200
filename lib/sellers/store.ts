import { and, desc, eq, isNull, lt, ne, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { sellers } from "#lib/sellers/tables.ts";
import type { Environment } from "#lib/vocabulary.ts";

export type SellerRow = typeof sellers.$inferSelect;

type Reader = Database | Tx;

export async function insertSeller(tx: Tx, row: typeof sellers.$inferInsert): Promise<SellerRow> {
  const [saved] = await tx.insert(sellers).values(row).returning();
  return saved!;
}

/** Finds a seller of any organization. */
export async function findSeller(db: Reader, environment: Environment, sellerId: string): Promise<SellerRow | null> {
  const [row] = await db
    .select()
    .from(sellers)
    .where(and(eq(sellers.sellerId, sellerId), eq(sellers.environment, environment)));
  return row ?? null;
}

export async function findOwnSeller(
  db: Reader,
  environment: Environment,
  organizationId: string,
  sellerId: string,
): Promise<SellerRow | null> {
  const row = await findSeller(db, environment, sellerId);
  return row?.organizationId === organizationId ? row : null;
}

/** Newest first, because ids sort by the time of creation. */
export const pageOfSellers = (db: Reader, scope: Scope, before: string | null, limit: number): Promise<SellerRow[]> =>
  db
    .select()
    .from(sellers)
    .where(and(within(sellers, scope), before === null ? undefined : lt(sellers.sellerId, before)))
    .orderBy(desc(sellers.sellerId))
    .limit(limit);

export const listOwnSellers = (db: Reader, environment: Environment, organizationId: string, limit: number) =>
  db.select().from(sellers).where(within(sellers, { organizationId, environment })).orderBy(sellers.sellerId).limit(limit);

/** Takes an advisory lock until commit, so that two proofs of the same domain are not checked at the same time. */
export async function lockDomain(tx: Tx, environment: Environment, domain: string): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`seller domain ${environment} ${domain}`}, 0))`);
}

/** Call lockDomain before, so that no other seller can prove the domain between this check and the commit. */
export async function verifiedElsewhere(tx: Tx, { environment, domain, organizationId }: SellerRow): Promise<boolean> {
  const [other] = await tx
    .select({ sellerId: sellers.sellerId })
    .from(sellers)
    .where(
      and(
        eq(sellers.domain, domain),
        eq(sellers.environment, environment),
        sellers.verified,
        ne(sellers.organizationId, organizationId),
      ),
    )
    .limit(1);
  return other !== undefined;
}

/** The seller that is verified at this domain; the oldest one if an organization has several. */
export async function findVerifiedSeller(db: Reader, environment: Environment, domain: string): Promise<SellerRow | null> {
  const [row] = await db
    .select()
    .from(sellers)
    .where(and(eq(sellers.domain, domain), eq(sellers.environment, environment), sellers.verified))
    .orderBy(sellers.sellerId)
    .limit(1);
  return row ?? null;
}

/** Null if an emergency stop came first, because a stopped seller does not change. */
export async function setVerified(tx: Tx, { sellerId }: SellerRow, verified: boolean): Promise<SellerRow | null> {
  const [saved] = await tx
    .update(sellers)
    .set({ verified, updatedAt: sql`statement_timestamp()` })
    .where(and(eq(sellers.sellerId, sellerId), isNull(sellers.stoppedAt)))
    .returning();
  return saved ?? null;
}
