import { and, count, desc, eq, ilike, inArray, isNull, or, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { contains } from "#lib/db/like.ts";
import { apiKeys, organization, serviceAccounts } from "#lib/identity/tables.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { hasNoOutcome } from "#lib/holds/execution-store.ts";
import { heldRows } from "#lib/holds/sweep-store.ts";
import { authorizations, executions, paymentTerms } from "#lib/holds/tables.ts";
import type { Reach } from "#lib/sellers/stops.ts";
import { sellers } from "#lib/sellers/tables.ts";
import type { Environment } from "#lib/vocabulary.ts";

type Db = Database | Tx;

/** Only the platform's own operations and pages use functions whose name begins with findAny. */
export async function findAnyMandate(db: Db, environment: Environment, mandateId: string) {
  const { organizationId, name, status, asset, chain } = mandates;
  const [row] = await db
    .select({ organizationId, name, status, asset, chain, organizationName: organization.name })
    .from(mandates)
    .innerJoin(organization, eq(organization.id, mandates.organizationId))
    .where(and(eq(mandates.mandateId, mandateId), eq(mandates.environment, environment)));
  return row ?? null;
}

export async function findAnyAgent(db: Db, environment: Environment, serviceAccountId: string) {
  const { organizationId, name, revokedAt } = serviceAccounts;
  const [row] = await db
    .select({ organizationId, name, revokedAt, organizationName: organization.name })
    .from(serviceAccounts)
    .innerJoin(organization, eq(organization.id, serviceAccounts.organizationId))
    .where(and(eq(serviceAccounts.serviceAccountId, serviceAccountId), eq(serviceAccounts.environment, environment)));
  return row ?? null;
}

export async function findAnySeller(db: Db, environment: Environment, sellerId: string) {
  const { organizationId, name, domain, verified, stoppedAt } = sellers;
  const [row] = await db
    .select({ organizationId, name, domain, verified, stoppedAt, organizationName: organization.name })
    .from(sellers)
    .innerJoin(organization, eq(organization.id, sellers.organizationId))
    .where(and(eq(sellers.sellerId, sellerId), eq(sellers.environment, environment)));
  return row ?? null;
}

export async function findByName(db: Db, environment: Environment, text: string, rows: number) {
  const like = contains(text);
  const ofOrganization = ilike(organization.name, like);
  const [foundMandates, agents, foundSellers] = await Promise.all([
    db
      .select({ id: mandates.mandateId, name: mandates.name, status: mandates.status, organizationName: organization.name })
      .from(mandates)
      .innerJoin(organization, eq(organization.id, mandates.organizationId))
      .where(and(eq(mandates.environment, environment), or(ilike(mandates.name, like), ofOrganization)))
      .orderBy(desc(mandates.mandateId))
      .limit(rows),
    db
      .select({
        id: serviceAccounts.serviceAccountId,
        name: serviceAccounts.name,
        revokedAt: serviceAccounts.revokedAt,
        organizationName: organization.name,
      })
      .from(serviceAccounts)
      .innerJoin(organization, eq(organization.id, serviceAccounts.organizationId))
      .where(and(eq(serviceAccounts.environment, environment), or(ilike(serviceAccounts.name, like), ofOrganization)))
      .orderBy(desc(serviceAccounts.serviceAccountId))
      .limit(rows),
    db
      .select({
        id: sellers.sellerId,
        name: sellers.name,
        domain: sellers.domain,
        stoppedAt: sellers.stoppedAt,
        organizationName: organization.name,
      })
      .from(sellers)
      .innerJoin(organization, eq(organization.id, sellers.organizationId))
      .where(
        and(eq(sellers.environment, environment), or(ilike(sellers.name, like), ilike(sellers.domain, like), ofOrganization)),
      )
      .orderBy(desc(sellers.sellerId))
      .limit(rows),
  ]);
  return { mandates: foundMandates, agents, sellers: foundSellers };
}

export async function revokeMandateNow(tx: Tx, mandateId: string, now: Date): Promise<void> {
  await tx.update(mandates).set({ status: "revoked", updatedAt: now }).where(eq(mandates.mandateId, mandateId));
}

export type Target = { readonly kind: "mandate" | "agent" | "seller"; readonly id: string };

/** The domain of the payee, registered or not. */
const payeeDomain = sql`coalesce(${sellers.domain}, (SELECT t.terms::json -> 'seller' ->> 'domain' FROM ${paymentTerms} t
  WHERE t.terms_id = ${authorizations.termsId}))`;

/** SQL condition: the payment goes to a domain or address of `reach` that counts as proven. */
function reached(reach: readonly Reach[]) {
  const proven = reach.filter((one) => one.proven);
  const addresses = proven.filter(({ kind }) => kind === "address").map(({ value }) => value);
  const domains = proven.filter(({ kind }) => kind === "domain");
  const isReached = domains.map(({ value, subdomains }) =>
    or(eq(payeeDomain, value), subdomains ? sql`right(${payeeDomain}, ${value.length + 1}) = ${`.${value}`}` : undefined),
  );
  return or(
    addresses.length > 0 ? inArray(sql`lower(${authorizations.payTo})`, addresses) : undefined,
    isReached.length > 0 ? or(...isReached) : undefined,
  );
}

const executionsOf = ({ kind, id }: Target, reach: readonly Reach[]) =>
  and(
    hasNoOutcome,
    {
      mandate: eq(executions.mandateId, id),
      agent: eq(executions.subjectId, id),
      seller: or(eq(authorizations.sellerId, id), reached(reach)),
    }[kind],
  );

export const selectUnderWay = (db: Db, target: Target, rows: number, reach: readonly Reach[] = []) =>
  db
    .select({
      executionId: executions.executionId,
      settlementStatus: executions.settlementStatus,
      amount: authorizations.amount,
      asset: authorizations.asset,
      chain: authorizations.chain,
    })
    .from(executions)
    .innerJoin(authorizations, eq(authorizations.authorizationId, executions.authorizationId))
    .leftJoin(sellers, eq(sellers.sellerId, authorizations.sellerId))
    .where(executionsOf(target, reach))
    .orderBy(desc(executions.executionId))
    .limit(rows);

/** Holds of payments that were not submitted; `since` is from sweptUntil: holds that expired before it are released already. */
export const sumHeld = (db: Db, { kind, id }: Target, since: Date) =>
  db
    .select({
      asset: authorizations.asset,
      chain: authorizations.chain,
      count: count(),
      // A hold under a mandate with a unit is in that unit, and not in the asset of the payment.
      amount: sql<string>`sum(CASE WHEN ${authorizations.unitAmount} IS NULL THEN held.open
        ELSE ${authorizations.amount} + ${authorizations.buyerShare} END)`,
    })
    .from(authorizations)
    .innerJoin(
      sql`(${heldRows(since, kind === "mandate" ? sql`mandate_id = ${id}` : sql`true`)}) AS held`,
      sql`held.authorization_id = ${authorizations.authorizationId}`,
    )
    .where({ mandate: undefined, agent: eq(authorizations.subjectId, id), seller: eq(authorizations.sellerId, id) }[kind])
    .groupBy(authorizations.asset, authorizations.chain);

export async function countLiveKeys(db: Db, serviceAccountId: string): Promise<number> {
  const [row] = await db
    .select({ count: count() })
    .from(apiKeys)
    .where(and(eq(apiKeys.serviceAccountId, serviceAccountId), isNull(apiKeys.revokedAt)));
  return row?.count ?? 0;
}
