import { and, eq, sql } from "drizzle-orm";
import { checkoutIntents, orders } from "#lib/approvals/tables.ts";
import type { Database, Tx } from "#lib/db/client.ts";
import { slotOf } from "#lib/command/idempotency.ts";
import type { Scope } from "#lib/mandates/store.ts";
import { mandates } from "#lib/mandates/tables.ts";
import type { PaymentSearch } from "#lib/payments/payment-filter.ts";
import { executions, reservations } from "#lib/holds/tables.ts";
import { idUnder } from "#lib/ids.ts";
import { Environment } from "#lib/vocabulary.ts";

type Db = Database | Tx;

type Id = Extract<PaymentSearch, { kind: "id" }>;

function idOf(db: Db, { organizationId }: Scope, { of, id }: Id): PromiseLike<readonly { id: string | null }[]> {
  switch (of) {
    case "authorization":
      return Promise.resolve([{ id }]);
    case "execution":
      return db
        .select({ id: executions.authorizationId })
        .from(executions)
        .where(and(eq(executions.executionId, id), eq(executions.organizationId, organizationId)));
    case "reservation":
      return db
        .select({ id: reservations.authorizationId })
        .from(reservations)
        .where(
          and(eq(reservations.authorizationId, idUnder("authorization", id)), eq(reservations.organizationId, organizationId)),
        );
    case "checkout":
      return db
        .select({ id: checkoutIntents.authorizationId })
        .from(checkoutIntents)
        .where(and(eq(checkoutIntents.checkoutIntentId, id), eq(checkoutIntents.organizationId, organizationId)));
    case "order":
      return db
        .select({ id: orders.authorizationId })
        .from(orders)
        .where(and(eq(orders.orderId, id), eq(orders.organizationId, organizationId)));
  }
}

/** The index of intentIds has no denied payments, so this lookup leaves them out. */
async function idsOfText(db: Db, scope: Scope, text: string): Promise<readonly (string | null)[]> {
  const { organizationId } = scope;
  const environment = Environment.parse(scope.environment);
  const slot = (operationId: string) => slotOf({ organizationId, environment, operationId, key: text });
  const rows = await db.execute(sql`
    SELECT authorization_id AS id FROM authorizations WHERE slot = ${slot("authorizePayment")}
    UNION SELECT authorization_id FROM executions WHERE slot = ${slot("executePayment")}
    UNION SELECT authorization_id FROM orders WHERE slot IN (${slot("placeOrder")}, ${slot("continueCheckout")})
    UNION SELECT a.authorization_id FROM ${mandates} m, LATERAL (
      SELECT authorization_id FROM authorizations
      WHERE hashtextextended(mandate_id || ' ' || intent_id, 0) = hashtextextended(m.mandate_id || ' ' || ${text}, 0)
        AND hashtextextended(mandate_id || ' ' || intent_id, 1) = hashtextextended(m.mandate_id || ' ' || ${text}, 1)
        AND mandate_id = m.mandate_id AND intent_id = ${text} AND outcome <> 'deny' LIMIT 1) a
    WHERE m.organization_id = ${organizationId} AND m.environment = ${scope.environment}`);
  return rows.map((row) => row["id"] as string | null);
}

/** Null without a search, for an amount, and for a text that no key or intentId matches; the caller then filters all payments. */
export async function idsOf(db: Db, scope: Scope, search: PaymentSearch | undefined): Promise<readonly string[] | null> {
  if (search === undefined || search.kind === "amount") return null;
  const known = (ids: readonly (string | null)[]) => ids.filter((id) => id !== null);
  if (search.kind === "id") return known((await idOf(db, scope, search)).map(({ id }) => id));
  if (search.kind === "text") {
    const ids = known(await idsOfText(db, scope, search.text));
    return ids.length > 0 ? ids : null;
  }
  const rows = await db
    .select({ id: executions.authorizationId })
    .from(executions)
    .where(and(eq(executions.settlementReference, search.hash), eq(executions.organizationId, scope.organizationId)));
  return rows.map(({ id }) => id);
}
