import { getTableColumns, sql } from "drizzle-orm";
import { readIntent } from "#lib/holds/stored-intent.ts";
import { authorizations } from "#lib/holds/tables.ts";
import type { PaymentIntent } from "#lib/payment-intent.ts";

/** Only for queries that use the table `authorizations` without an alias. */
export const wholeIntent = sql<PaymentIntent>`(
  SELECT '[' || authorizations.intent || ',' || t.terms || ',' || json_build_object('authorizationId', authorizations.authorization_id,
    'intentId', authorizations.intent_id, 'nonce', authorizations.nonce,
    'createdAt', to_char(authorizations.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'expiresAt', to_char(authorizations.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) || ']'
  FROM payment_terms t WHERE t.terms_id = authorizations.terms_id)`
  .mapWith(readIntent)
  .as("intent");

const { intent: _intent, termsId: _termsId, ...columns } = getTableColumns(authorizations);

export const authorizationColumns = { ...columns, intent: wholeIntent };

export type AuthorizationRow = Omit<typeof authorizations.$inferSelect, "intent" | "termsId"> & {
  readonly intent: PaymentIntent;
};
