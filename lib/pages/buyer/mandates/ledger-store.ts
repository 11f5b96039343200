import { and, eq, inArray, sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { authorizations, paymentTerms } from "#lib/holds/tables.ts";
import type { Atomic } from "#lib/money.ts";

export const partiesOf = (tx: Tx, scope: Scope, authorizationIds: readonly string[]) =>
  tx
    .select({
      authorizationId: authorizations.authorizationId,
      subjectId: authorizations.subjectId,
      payTo: authorizations.payTo,
      charge: sql<Atomic>`${authorizations.amount} + ${authorizations.buyerShare}`.mapWith(authorizations.amount),
      asset: authorizations.asset,
      chain: authorizations.chain,
      seller: sql<{ readonly domain?: string; readonly name?: string }>`${paymentTerms.terms}::json -> 'seller'`,
    })
    .from(authorizations)
    .leftJoin(paymentTerms, eq(paymentTerms.termsId, authorizations.termsId))
    .where(and(within(authorizations, scope), inArray(authorizations.authorizationId, [...authorizationIds])));
