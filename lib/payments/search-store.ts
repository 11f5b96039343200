import { and, eq, sql, type SQL } from "drizzle-orm";
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
const authorizationOfIntent = (mandateId: SQL, intentId: SQL): SQL => sql`(
  SELECT authorization_id FROM authorizations
  WHERE hashtextextended(mandate_id || ' ' || intent_id, 0) = hashtextextended(${mandateId} || ' ' || ${intentId}, 0)
    AND hashtextextended(mandate_id || ' ' || intent_id, 1) = hashtextextended(${mandateId} || ' ' || ${intentId}, 1)
    AND mandate_id = ${mandateId} AND intent_id = ${intentId} AND outcome <> 'deny' LIMIT 1)`;

/**
 * Selects the payments of the call with this idempotency key. An order has a payment for each quote that it asked for, whose
 * intentIds are the order's id, then that id with `.2`, `.3` and so on; its row names only the last one.
 */
export function paymentsOfKey({ organizationId, environment }: Scope, key: string): SQL {
  const slot = (operationId: string) => slotOf({ organizationId, environment: Environment.parse(environment), operationId, key });
  const ofOrder = sql`slot IN (${slot("placeOrder")}, ${slot("continueCheckout")})`;
  const intentId = sql`(o.order_id || CASE WHEN n = 1 THEN '' ELSE '.' || n END)`;
  return sql`
    SELECT authorization_id AS id FROM authorizations WHERE slot = ${slot("authorizePayment")}
    UNION SELECT authorization_id FROM executions WHERE slot = ${slot("executePayment")}
    UNION SELECT authorization_id FROM orders WHERE ${ofOrder}
    UNION SELECT a.authorization_id FROM orders o, generate_series(1, o.attempt - 1) n,
      LATERAL ${authorizationOfIntent(sql`o.mandate_id`, intentId)} a WHERE o.${ofOrder}`;
}

const idsIn = async (db: Db, query: SQL): Promise<readonly string[]> =>
  (await db.execute(query)).map((row) => row["id"] as string | null).filter((id) => id !== null);

export const idsOfKey = (db: Db, scope: Scope, key: string): Promise<readonly string[]> => idsIn(db, paymentsOfKey(scope, key));

const idsOfText = (db: Db, scope: Scope, text: string): Promise<readonly string[]> =>
  idsIn(
    db,
    sql`${paymentsOfKey(scope, text)}
    UNION SELECT a.authorization_id FROM ${mandates} m, LATERAL ${authorizationOfIntent(sql`m.mandate_id`, sql`${text}`)} a
    WHERE m.organization_id = ${scope.organizationId} AND m.environment = ${scope.environment}`,
  );

/** Null without a search, for an amount, and for a text that no key or intentId matches; the caller then filters all payments. */
export async function idsOf(db: Db, scope: Scope, search: PaymentSearch | undefined): Promise<readonly string[] | null> {
  if (search === undefined || search.kind === "amount") return null;
  const known = (ids: readonly (string | null)[]) => ids.filter((id) => id !== null);
  if (search.kind === "id") return known((await idOf(db, scope, search)).map(({ id }) => id));
  if (search.kind === "text") {
    const ids = await idsOfText(db, scope, search.text);
    return ids.length > 0 ? ids : null;
  }
  const rows = await db
    .select({ id: executions.authorizationId })
    .from(executions)
    .where(and(eq(executions.settlementReference, search.hash), eq(executions.organizationId, scope.organizationId)));
  return rows.map(({ id }) => id);
}
