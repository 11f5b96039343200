import type { EventRange } from "#lib/audit/cursor.ts";
import type { CardAsks } from "#lib/alerts/facts.ts";
import { sqlOf, type Tx } from "#lib/db/client.ts";

/** The number of payments that a mandate denied in the `hour` with `code` or, if `code` is null, did not deny. */
export type Decided = { readonly mandateId: string; readonly code: string | null; readonly hour: Date; readonly count: number };

export async function decidedIn(tx: Tx, { chain, after, last }: EventRange): Promise<readonly Decided[]> {
  const rows = await sqlOf(tx)`
    SELECT mandate_id, CASE WHEN outcome = 'deny' THEN denial_code END AS code, date_trunc('hour', created_at, 'UTC') AS hour, count(*)::int AS count
    FROM authorizations WHERE organization_id = ${chain} AND sequence > ${after} AND sequence <= ${last}
    GROUP BY 1, 2, 3`;
  return rows.map((row) => ({
    mandateId: String(row["mandate_id"]),
    code: row["code"] === null ? null : String(row["code"]),
    hour: new Date(row["hour"] as string),
    count: Number(row["count"]),
  }));
}

/** Questions about payments that are made elsewhere; `sequence` is of the event that asks. */
export async function recordsAskingIn(tx: Tx, { chain, after, last }: EventRange) {
  const rows = await sqlOf(tx)`
    SELECT entity_id, type, sequence FROM audit_entries
    WHERE chain = ${chain} AND sequence > ${after} AND sequence <= ${last}
      AND (type = 'payment.overdue' OR type = 'payment.exceeded' AND metadata ->> 'asks' = 'true')`;
  return rows.map((row) => ({
    authorizationId: String(row["entity_id"]),
    sequence: Number(row["sequence"]),
    asks: row["type"] === "payment.exceeded" ? ("exceeded" as const) : ("overdue" as const),
  }));
}

/** Questions about payments by card, as recordsAskingIn. */
export async function cardsAskingIn(tx: Tx, { chain, after, last }: EventRange) {
  const rows = await sqlOf(tx)`
    SELECT entity_id, type, sequence FROM audit_entries
    WHERE chain = ${chain} AND sequence > ${after} AND sequence <= ${last}
      AND type IN ('payment.cardExceeded', 'payment.cardOutside', 'payment.cardUnconfirmed')`;
  return rows.map((row) => ({
    authorizationId: String(row["entity_id"]),
    sequence: Number(row["sequence"]),
    asks: String(row["type"]).slice("payment.card".length).toLowerCase() as Exclude<CardAsks, "clearance">,
  }));
}

const CLEARANCES_MAX = 20;

/** The purchases by card that were declined for lack of a clearance: the first of each mandate and hour, the newest of at most 20. */
export async function clearancesIn(tx: Tx, { chain, after, last }: EventRange) {
  const rows = await sqlOf(tx)`
    SELECT DISTINCT ON (mandate_id, subject_id) authorization_id, mandate_id, subject_id, date_trunc('hour', created_at, 'UTC') AS hour
    FROM authorizations
    WHERE organization_id = ${chain} AND sequence > ${after} AND sequence <= ${last} AND denial_code = 'clearance_needed'
      AND NOT EXISTS (SELECT FROM card_parts p JOIN card_authorizations c USING (connection_id, stripe_id)
        WHERE p.authorization_id = authorizations.authorization_id AND (c.approved OR p.captured > 0))
    ORDER BY mandate_id, subject_id, authorization_id LIMIT ${CLEARANCES_MAX}`;
  return rows.map((row) => ({
    authorizationId: String(row["authorization_id"]),
    mandateId: String(row["mandate_id"]),
    subjectId: String(row["subject_id"]),
    hour: new Date(row["hour"] as string),
  }));
}

/** Lists the executions of payments whose outcome became unknown in these events. */
export async function unknownIn(tx: Tx, { chain, after, last }: EventRange): Promise<readonly string[]> {
  const rows = await sqlOf(tx)`
    SELECT DISTINCT entity_id FROM audit_entries
    WHERE chain = ${chain} AND sequence > ${after} AND sequence <= ${last} AND type = 'payment.unknown'`;
  return rows.map((row) => String(row["entity_id"]));
}
