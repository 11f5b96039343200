import { and, desc, eq, ilike, inArray, isNull, or, sql } from "drizzle-orm";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { contains } from "#lib/db/like.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { member, serviceAccounts, user } from "#lib/identity/tables.ts";
import { prefixes } from "#lib/ids.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { authorizations } from "#lib/holds/tables.ts";
import { resources, sellers } from "#lib/sellers/tables.ts";

/** Every query of this file filters by the organization and the environment. */

const KIND_MAX = 5;
/** How many of the newest payments and requests are compared with a text that no index finds. */
const LOOKED_AT = 1_000;
const LAST = `aut_${"z".repeat(26)}`;

export const mandatesLike = (scope: Scope, text: string) =>
  database()
    .select({ id: mandates.mandateId, name: mandates.name, status: mandates.status })
    .from(mandates)
    .where(and(within(mandates, scope), or(eq(mandates.mandateId, text), ilike(mandates.name, contains(text)))))
    .orderBy(desc(mandates.mandateId))
    .limit(KIND_MAX);

export const resourcesLike = ({ organizationId, environment }: Scope, text: string) =>
  database()
    .select({
      id: resources.resourceId,
      sellerId: resources.sellerId,
      method: resources.method,
      pathTemplate: resources.pathTemplate,
    })
    .from(resources)
    .innerJoin(sellers, and(eq(sellers.sellerId, resources.sellerId), eq(sellers.environment, environment)))
    .where(
      and(
        eq(resources.organizationId, organizationId),
        isNull(resources.archivedAt),
        or(
          ilike(resources.resourceId, contains(text)),
          ilike(resources.pathTemplate, contains(text)),
          ilike(resources.description, contains(text)),
        ),
      ),
    )
    .orderBy(desc(resources.createdAt))
    .limit(KIND_MAX);

export const paymentsOf = (scope: Scope, ids: readonly string[]) =>
  database()
    .select({
      id: authorizations.authorizationId,
      outcome: authorizations.outcome,
      domain: sql<string | null>`(SELECT t.terms::json -> 'seller' ->> 'domain' FROM payment_terms t
        WHERE t.terms_id = authorizations.terms_id)`,
    })
    .from(authorizations)
    .where(and(within(authorizations, scope), inArray(authorizations.authorizationId, [...ids])))
    .orderBy(desc(authorizations.authorizationId))
    .limit(KIND_MAX);

/**
 * Every payee that was paid, and those of the newest payments that were asked for, whatever was decided. The rows are compared by
 * both columns of the index, or the planner could scan the payments of all organizations backwards.
 */
export async function payeesLike({ organizationId, environment }: Scope, text: string) {
  const like = contains(text);
  const rows = await database().execute(sql`
    WITH newest AS MATERIALIZED (
      SELECT terms_id FROM authorizations
      WHERE (organization_id, authorization_id) >= (${organizationId}, 'aut_0')
        AND (organization_id, authorization_id) < (${organizationId}, ${LAST}) AND environment = ${environment}
      ORDER BY organization_id DESC, authorization_id DESC LIMIT ${LOOKED_AT}),
    payees AS (
      SELECT coalesce(s.domain, split_part(p.seller_id, ' ', 1)) AS domain, s.name, true AS paid
      FROM mandates m JOIN mandate_sellers p ON p.mandate_id = m.mandate_id LEFT JOIN sellers s ON s.seller_id = p.seller_id
      WHERE m.organization_id = ${organizationId} AND m.environment = ${environment}
      UNION ALL
      SELECT t.terms::json -> 'seller' ->> 'domain', t.terms::json -> 'seller' ->> 'name', false
      FROM (SELECT DISTINCT terms_id FROM newest) n JOIN payment_terms t ON t.terms_id = n.terms_id)
    SELECT domain, bool_or(paid) AS paid FROM payees WHERE domain ILIKE ${like} OR (domain IS NOT NULL AND name ILIKE ${like})
    GROUP BY domain ORDER BY 2 DESC, 1 LIMIT ${KIND_MAX}`);
  return rows as unknown as readonly { readonly domain: string; readonly paid: boolean }[];
}

/** The texts of a basket's lines have no index, so only the newest requests are compared. */
export const requestsLike = (scope: Scope, text: string) => {
  const { checkoutIntentId: id, amount, asset, tokenDecimals, domain, status, expiresAt, canonicalBasket } = checkoutIntents;
  const isId = text.startsWith(`${prefixes.checkoutIntent}_`);
  const newest = database()
    .select({ id, amount, asset, tokenDecimals, domain, status, expiresAt, canonicalBasket })
    .from(checkoutIntents)
    .where(and(within(checkoutIntents, scope), isId ? eq(id, text) : undefined))
    .orderBy(desc(id))
    .limit(LOOKED_AT)
    .as("newest");
  const hasItem = sql`EXISTS (SELECT FROM json_array_elements(${newest.canonicalBasket} -> 'lines') line
    WHERE line ->> 'name' ILIKE ${contains(text)})`;
  return database()
    .select({
      id: newest.id,
      amount: newest.amount,
      asset: newest.asset,
      tokenDecimals: newest.tokenDecimals,
      domain: newest.domain,
      status: newest.status,
      expiresAt: newest.expiresAt,
      now: sql<Date>`clock_timestamp()`.mapWith(newest.expiresAt),
    })
    .from(newest)
    .where(or(eq(newest.id, text), ilike(newest.domain, contains(text)), hasItem))
    .orderBy(desc(newest.id))
    .limit(KIND_MAX);
};

export const agentsLike = (scope: Scope, text: string) =>
  database()
    .select({
      id: serviceAccounts.serviceAccountId,
      name: serviceAccounts.name,
      revokedAt: serviceAccounts.revokedAt,
      pausedAt: serviceAccounts.pausedAt,
    })
    .from(serviceAccounts)
    .where(
      and(
        within(serviceAccounts, scope),
        or(eq(serviceAccounts.serviceAccountId, text), ilike(serviceAccounts.name, contains(text))),
      ),
    )
    .orderBy(desc(isNull(serviceAccounts.revokedAt)), desc(serviceAccounts.serviceAccountId))
    .limit(KIND_MAX);

export const membersLike = (organizationId: string, text: string) =>
  database()
    .select({ id: user.id, name: user.name, role: member.role })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(
      and(
        eq(member.organizationId, organizationId),
        or(eq(user.id, text), ilike(user.name, contains(text)), ilike(user.email, contains(text))),
      ),
    )
    .orderBy(user.name, user.id)
    .limit(KIND_MAX);

export const sellersLike = (scope: Scope, text: string) =>
  database()
    .select({ id: sellers.sellerId, name: sellers.name })
    .from(sellers)
    .where(
      and(
        within(sellers, scope),
        or(eq(sellers.sellerId, text), ilike(sellers.name, contains(text)), ilike(sellers.domain, contains(text))),
      ),
    )
    .orderBy(desc(sellers.sellerId))
    .limit(KIND_MAX);
