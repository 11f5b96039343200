import { sql } from "drizzle-orm";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { PURPOSE_READ_MAX, purposeOf } from "#lib/approvals/purpose.ts";
import {
  agentKey,
  ASKED_MOST,
  HOUR_MOST,
  type Agent,
  type AgentRequests,
  type Remembered,
} from "#lib/approvals/request-limits.ts";
import type { Tx } from "#lib/db/client.ts";
import type { Sql } from "#lib/db/sql.ts";

/* A separate statement takes the lock first, so that the count sees what the last lock holder committed. */

type Agents = { readonly of: readonly string[]; readonly ids: readonly string[] };

const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('requests of ' || id, 0)) FROM unnest($1::text[]) AS w(id)";

/** A request waits for at most a day, so older rows are not read. */
const COUNTS = `LATERAL (
    SELECT count(*) FILTER (WHERE waits)::int AS open, count(*) FILTER (WHERE lately)::int AS lately,
      min(checkout_intent_id) FILTER (WHERE waits) AS oldest,
      (array_agg(created_at ORDER BY created_at DESC) FILTER (WHERE lately))[${HOUR_MOST}] + interval '1 hour' AS free_at
    FROM (SELECT checkout_intent_id, created_at, created_at > (SELECT clock_timestamp() - interval '1 hour') AS lately,
        status IN ('previewed', 'awaiting_approval') AND expires_at > clock_timestamp() AS waits
      FROM checkout_intents WHERE owner_subject_id = w.id AND organization_id = w.organization_id
        AND created_at > (SELECT clock_timestamp() - interval '1 day') OFFSET 0) c) k`;

const readCount = (row: Record<string, unknown>): AgentRequests => ({
  open: row["open"] as number,
  lately: row["lately"] as number,
  oldest: row["oldest"] as string | null,
  freeAt: row["free_at"] === null ? null : new Date(row["free_at"] as string),
});

const keyOf = (row: Record<string, unknown>): string =>
  agentKey({ organizationId: row["organization_id"] as string, ownerSubjectId: row["id"] as string });

/** Returns the counts by agentKey. `ids` must be sorted, or two batches can deadlock. */
export async function countRequestsInBatch(c: Sql, { of, ids }: Agents): Promise<Map<string, AgentRequests>> {
  const locked = c.unsafe(LOCK, [ids as string[]]).execute();
  const each = "unnest($1::text[], $2::text[]) AS w(organization_id, id)";
  const counted = c
    .unsafe(`SELECT w.organization_id, w.id, k.* FROM ${each}, ${COUNTS}`, [of as string[], ids as string[]])
    .execute();
  const [, rows] = await Promise.all([locked, counted]);
  return new Map(rows.map((row) => [keyOf(row), readCount(row)]));
}

/** Call it after mandates and checkouts are locked, or two transactions can deadlock. */
export async function countRequests(tx: Tx, { organizationId, ownerSubjectId }: Agent): Promise<AgentRequests> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`requests of ${ownerSubjectId}`}, 0))`);
  const [row] = await tx.execute(
    sql`SELECT k.* FROM (VALUES (${organizationId}, ${ownerSubjectId})) AS w(organization_id, id), ${sql.raw(COUNTS)}`,
  );
  return readCount(row!);
}

/** An agent can give each request another purpose, so at most this many unanswered requests are compared. */
const SILENT_MAX = 50;

/** `isRecent` is true if the request expired within the last hour. */
type Silent = { readonly purpose: string | null; readonly isRecent: boolean };
type Asked = Pick<CheckoutRow, "mandateId" | "basketHash" | "metadata">;

/**
 * Reads what people said to earlier requests for the same mandate and basket. The keys are the indexes in `asked` of the requests
 * that must be refused now.
 * An unanswered request counts only with the same purpose, because another purpose gives people a new reason to decide.
 * A checkout whose approval was taken back also has the status `rejected` and counts as declined (ADR 0039).
 */
export async function rememberedOf(c: Sql, asked: readonly Asked[]): Promise<ReadonlyMap<number, Remembered>> {
  const rows = await c`
    SELECT w.number, k.* FROM unnest(${asked.map((_, number) => number)}::int[],
        ${asked.map(({ mandateId }) => mandateId ?? "")}::text[], ${asked.map(({ basketHash }) => basketHash)}::text[])
        AS w(number, mandate_id, basket_hash),
      LATERAL (SELECT coalesce(bool_or(declined), false) AS declined,
          json_agg(json_build_object('purpose', purpose, 'isRecent', is_recent)) FILTER (WHERE silent AND place <= ${SILENT_MAX}) AS silent
        FROM (SELECT status = 'rejected' AND updated_at > (SELECT clock_timestamp() - interval '1 hour') AS declined,
            status <> 'rejected' AND expires_at <= clock_timestamp() AND expires_at > (SELECT clock_timestamp() - interval '1 day')
              AND NOT EXISTS (SELECT FROM checkout_approvals a WHERE a.checkout_intent_id = checkout_intents.checkout_intent_id) AS silent,
            expires_at > (SELECT clock_timestamp() - interval '1 hour') AS is_recent,
            row_number() OVER (PARTITION BY status = 'rejected' ORDER BY created_at DESC) AS place,
            CASE WHEN json_typeof(metadata -> 'purpose') = 'string' THEN left(metadata ->> 'purpose', ${PURPOSE_READ_MAX}) END AS purpose
          FROM checkout_intents WHERE mandate_id = w.mandate_id AND basket_hash = w.basket_hash
            AND status IN ('rejected', 'expired', 'previewed', 'awaiting_approval')
            AND created_at > (SELECT clock_timestamp() - interval '2 days') OFFSET 0) c) k
    WHERE k.declined OR json_array_length(k.silent) >= ${ASKED_MOST}`;
  return new Map(
    rows.flatMap(({ number, declined, silent }): [number, Remembered][] => {
      const at = number as number;
      if (declined === true) return [[at, "declined"]];
      const purpose = purposeOf(asked[at]?.metadata ?? null);
      const same = ((silent ?? []) as readonly Silent[]).filter((one) => purposeOf(one) === purpose);
      return same.length >= ASKED_MOST && same.some(({ isRecent }) => isRecent) ? [[at, "unanswered"]] : [];
    }),
  );
}
