import { sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { within, type Scope } from "#lib/db/scope.ts";
import { authorizations } from "#lib/holds/tables.ts";
import { firstIdAt } from "#lib/ids.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { atomicOf } from "#lib/money.ts";
import { openOfHold, spentOfHold } from "#lib/mandates/window-store.ts";
import { ID_SLACK_MS } from "#lib/pages/id-slack.ts";

const idAt = (kind: "ledger" | "authorization", time: Date): string => firstIdAt(kind, new Date(time.getTime() - ID_SLACK_MS));

export type SpendingPart = {
  readonly by: "agent" | "seller" | "mandate" | "rail";
  readonly asset: string;
  readonly chain: string;
  /** An id, a seller's domain or else name, or a rail; null if the payment names neither or its authorization is not stored. */
  readonly key: string | null;
  readonly amount: string;
};

/** One query, so that the ledger of each mandate is read only once. */
export async function selectSpendingParts(tx: Tx, scope: Scope, since: Date): Promise<readonly SpendingPart[]> {
  const rows = await tx.execute(sql`
    WITH parts AS MATERIALIZED (
      SELECT ${mandates.asset} AS asset, ${mandates.chain} AS chain, r.mandate_id, a.subject_id, a.terms_id,
        GROUPING(r.mandate_id) = 0 AS of_mandate, GROUPING(a.subject_id) = 0 AS of_agent, GROUPING(a.terms_id) = 0 AS of_terms,
        sum(r.amount) AS amount
      FROM ${mandates}
      JOIN resolutions r ON r.mandate_id = ${mandates.mandateId} AND r.ledger_id >= ${idAt("ledger", since)}
      LEFT JOIN authorizations a ON a.authorization_id = r.authorization_id
      WHERE ${within(mandates, scope)} AND r.kind IN ('capture', 'overrun') AND r.created_at >= ${since.toISOString()}::timestamptz
      GROUP BY ${mandates.asset}, ${mandates.chain}, GROUPING SETS ((r.mandate_id), (a.subject_id), (a.terms_id)))
    SELECT k.by, p.asset, p.chain, k.key, sum(p.amount)::text AS amount
    FROM parts p LEFT JOIN payment_terms t ON t.terms_id = p.terms_id
    CROSS JOIN LATERAL (VALUES
      ('mandate', p.mandate_id, p.of_mandate), ('agent', p.subject_id, p.of_agent),
      ('seller', coalesce(t.terms::json -> 'seller' ->> 'domain', t.terms::json -> 'seller' ->> 'name'), p.of_terms),
      ('rail', coalesce(t.terms::json ->> 'paymentChallengeType', 'x402'), p.of_terms)) k(by, key, is_of)
    WHERE k.is_of GROUP BY 1, 2, 3, 4`);
  return rows as unknown as readonly SpendingPart[];
}

const SUMMED_MAX = 50_000;

/** Exported so that a test can check its query plan. */
export const cardSums = ({ organizationId, environment }: Scope, mandateId: string) => sql`
  WITH parts AS MATERIALIZED (
    SELECT p.authorization_id FROM card_connections n JOIN card_parts p ON p.connection_id = n.connection_id
    WHERE n.organization_id = ${organizationId} AND n.environment = ${environment} LIMIT ${SUMMED_MAX})
  SELECT (SELECT count(*) FROM parts) < ${SUMMED_MAX} AS "isWhole",
    coalesce(sum(r.captured), 0)::text AS spent,
    coalesce(sum(r.amount - r.captured - r.released) FILTER (WHERE r.status IN ('held', 'submitted')), 0)::text AS open
  FROM parts JOIN changed_reservations r ON r.authorization_id = parts.authorization_id
  WHERE r.mandate_id = ${mandateId}`;

/**
 * The sums of what cards did under a mandate, in its unit. Reads at most SUMMED_MAX payments by card of the organization. What is open
 * stays held until Stripe tells what became of it, or a person closes the payment.
 */
export async function sumCards(tx: Tx, scope: Scope, mandateId: string) {
  const [row] = await tx.execute<{ isWhole: boolean; spent: string; open: string }>(cardSums(scope, mandateId));
  return { isWhole: row?.isWhole ?? true, spent: atomicOf(row?.spent ?? "0"), open: atomicOf(row?.open ?? "0") };
}

export const selectRefusals = (db: Database | Tx, scope: Scope, since: Date) =>
  db
    .select({ denialCode: authorizations.denialCode, payments: sql<number>`count(*)::int` })
    .from(authorizations)
    .where(
      // The second condition on the outcome follows from the first. It is that of the partial index.
      sql`${within(authorizations, scope)} AND ${authorizations.outcome} = 'deny' AND ${authorizations.outcome} <> 'allow'
        AND ${authorizations.authorizationId} >= ${idAt("authorization", since)}
        AND ${authorizations.createdAt} >= ${since.toISOString()}::timestamptz`,
    )
    .groupBy(authorizations.denialCode)
    .orderBy(sql`2 DESC`);

export const HOLDS_MAX = 50_000;

/** Sums the amounts that are held or paid, by the hours since `start`; reads only the newest HOLDS_MAX payments. */
export async function selectUse(tx: Tx, mandateId: string, start: Date) {
  const rows = await tx.execute(sql`
    SELECT floor(extract(epoch FROM h.created_at - ${start.toISOString()}::timestamptz) / 3600)::int AS hour, sum(h.amount)::text AS amount,
      count(*)::int AS holds
    FROM (
      SELECT a.created_at, ${spentOfHold} + ${openOfHold} AS amount
      FROM authorizations a LEFT JOIN changed_reservations r ON r.authorization_id = a.authorization_id
      WHERE a.mandate_id = ${mandateId} AND a.authorization_id >= ${idAt("authorization", start)} AND a.held
        AND a.created_at >= ${start.toISOString()}::timestamptz AND coalesce(r.status, 'held') IN ('captured', 'held', 'submitted')
      ORDER BY a.authorization_id DESC LIMIT ${HOLDS_MAX}) AS h
    GROUP BY 1 ORDER BY 1`);
  return rows as unknown as readonly { readonly hour: number; readonly amount: string; readonly holds: number }[];
}
