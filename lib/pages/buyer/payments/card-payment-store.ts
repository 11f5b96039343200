import { sql } from "drizzle-orm";
import type { Tx } from "#lib/db/client.ts";
import { atomicOf, type Atomic } from "#lib/money.ts";

/* Queries of the page of a payment by card. The caller must have checked the payment's organization. */

type Place = { readonly connectionId: string; readonly stripeId: string };

type Standing = Place & {
  readonly cardId: string;
  readonly name: string | null;
  readonly account: string;
  readonly approved: boolean | null;
  readonly status: string | null;
  readonly amount: Atomic | null;
  readonly toldAt: number | null;
  readonly asks: string | null;
};

/** The card that asked, and what Stripe has told about its authorization. Null for other payments. */
export async function cardStandingOf(tx: Tx, authorizationId: string): Promise<Standing | null> {
  const [row] = await tx.execute<Omit<Standing, "amount"> & { readonly amount: string | null }>(sql`
    SELECT p.connection_id AS "connectionId", p.stripe_id AS "stripeId", i.card ->> 'cardId' AS "cardId", c.name, n.name AS account,
      s.approved, s.status, s.amount::text AS amount, s.told_at::int8::float8 AS "toldAt", s.asks
    FROM card_parts p
    JOIN authorizations a ON a.authorization_id = p.authorization_id
    CROSS JOIN LATERAL (SELECT a.intent::json -> 'card' AS card) i
    JOIN card_connections n ON n.connection_id = p.connection_id
    LEFT JOIN card_authorizations s ON s.connection_id = p.connection_id AND s.stripe_id = p.stripe_id
    LEFT JOIN cards c ON c.connection_id = p.connection_id AND c.card_id = i.card ->> 'cardId'
    WHERE p.authorization_id = ${authorizationId}`);
  return row ? { ...row, amount: row.amount === null ? null : atomicOf(row.amount) } : null;
}

const TRANSACTIONS_MAX = 100;

/** The newest first. */
export async function cardTransactionsOf(tx: Tx, { connectionId, stripeId }: Place) {
  const rows = await tx.execute<{ id: string; kind: string; amount: string; currency: string; at: string }>(sql`
    SELECT transaction_id AS id, kind, amount::text AS amount, currency, created_at AS at
    FROM card_transactions WHERE connection_id = ${connectionId} AND stripe_id = ${stripeId}
    ORDER BY created_at DESC, transaction_id LIMIT ${TRANSACTIONS_MAX}`);
  return rows.map((row) => ({ ...row, amount: atomicOf(row.amount), at: new Date(row.at) }));
}

const OTHERS_MAX = 20;

/** Oldest first. */
export async function otherRequestsOf(tx: Tx, { connectionId, stripeId }: Place, authorizationId: string): Promise<string[]> {
  const rows = await tx.execute<{ id: string }>(sql`
    SELECT authorization_id AS id FROM card_parts WHERE connection_id = ${connectionId} AND stripe_id = ${stripeId}
      AND authorization_id <> ${authorizationId} ORDER BY position, authorization_id LIMIT ${OTHERS_MAX}`);
  return rows.map(({ id }) => id);
}
