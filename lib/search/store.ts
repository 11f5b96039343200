import { and, desc, eq, ilike, isNull, or, sql } from "drizzle-orm";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { contains } from "#lib/db/like.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { authorizations, executions } from "#lib/holds/tables.ts";
import { resources, sellers } from "#lib/sellers/tables.ts";

/** Every query of this file filters by the organization and the environment. */

const KIND_MAX = 5;

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

/** Only whole ids, because no index finds parts of ids. */
export const paymentsOfId = (scope: Scope, id: string) =>
  database()
    .select({
      id: authorizations.authorizationId,
      outcome: authorizations.outcome,
      domain: sql<string | null>`(SELECT t.terms::json -> 'seller' ->> 'domain' FROM payment_terms t
        WHERE t.terms_id = authorizations.terms_id)`,
    })
    .from(authorizations)
    .where(
      and(
        within(authorizations, scope),
        sql`${authorizations.authorizationId} IN (
          SELECT ${id}
          UNION ALL SELECT ${executions.authorizationId} FROM ${executions}
            WHERE ${executions.organizationId} = ${scope.organizationId} AND ${executions.executionId} = ${id}
          UNION ALL SELECT ${checkoutIntents.authorizationId} FROM ${checkoutIntents}
            WHERE ${checkoutIntents.organizationId} = ${scope.organizationId} AND ${checkoutIntents.checkoutIntentId} = ${id})`,
      ),
    )
    .limit(KIND_MAX);
