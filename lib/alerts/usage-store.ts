import type { EventRange } from "#lib/audit/cursor.ts";
import type { Question } from "#lib/alerts/facts.ts";
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

/** The events that ask people about a payment that is made elsewhere or by card. */
const questions: Readonly<Record<string, Question>> = {
  "payment.exceeded": { kind: "record", asks: "exceeded" },
  "payment.overdue": { kind: "record", asks: "overdue" },
  "payment.cardExceeded": { kind: "card", asks: "exceeded" },
  "payment.cardOutside": { kind: "card", asks: "outside" },
  "payment.cardUnconfirmed": { kind: "card", asks: "unconfirmed" },
};

/** `sequence` is of the event that asks. What a person recorded beyond while closing a payment asks nobody. */
export async function questionsIn(tx: Tx, { chain, after, last }: EventRange) {
  const rows = await sqlOf(tx)`
    SELECT entity_id, type, sequence FROM audit_entries
    WHERE chain = ${chain} AND sequence > ${after} AND sequence <= ${last} AND type = ANY(${Object.keys(questions)}::text[])
      AND (type <> 'payment.exceeded' OR metadata ->> 'asks' = 'true')`;
  return rows.map((row) => ({
    authorizationId: String(row["entity_id"]),
    sequence: Number(row["sequence"]),
    question: questions[String(row["type"])]!,
  }));
}

const CLEARANCES_MAX = 20;

/** Purchases by card that were declined for lack of a clearance: the first one of each mandate and agent, at most 20. */
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
