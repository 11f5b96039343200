import { sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";

type Row = { readonly what: string; readonly id: string; readonly found: string; readonly expected: string };

/**
 * Computes the sums of mandates and their buckets again from the holds, which are reserved amounts, and returns
 * the rows that differ. `reserved` is the sum of what is open, `spent` the sum of what was captured. Also checks that the status of
 * a hold fits its open or settled execution, that its ledger adds up to its sums (tests end holds without entries, so what follows from the status is not compared), and that no authorization was settled twice.
 */
export async function brokenSums(): Promise<readonly Row[]> {
  return database().execute<Row>(sql`
    WITH holds AS (
      SELECT *, spent_ AS spent, CASE WHEN status IN ('held', 'submitted') THEN amount - spent_ - coalesce(released, 0) ELSE 0 END AS reserved
      FROM (SELECT *, coalesce(captured, CASE WHEN status = 'captured' THEN amount ELSE 0 END) AS spent_ FROM reservations) AS r),
    sums AS (SELECT mandate_id, sum(reserved) AS reserved, sum(spent) AS spent FROM holds GROUP BY mandate_id),
    parts AS (
      SELECT r.mandate_id, b.value ->> 0 AS window_key, to_timestamp((b.value ->> 1)::numeric / 1000) AS start,
        sum(reserved) AS reserved, sum(spent) AS spent,
        count(*) FILTER (WHERE status IN ('held', 'submitted', 'captured')) AS payments
      FROM holds r, json_array_elements(r.buckets) b GROUP BY 1, 2, 3),
    entries AS (
      SELECT authorization_id, mandate_id, sum(amount) FILTER (WHERE kind IN ('hold', 'raise')) AS held,
        coalesce(sum(amount) FILTER (WHERE kind IN ('capture', 'overrun')), 0) AS spent,
        coalesce(sum(amount) FILTER (WHERE kind = 'refund'), 0) AS refunded,
        coalesce(sum(amount) FILTER (WHERE kind IN ('hold', 'raise')), 0)
          - coalesce(sum(amount) FILTER (WHERE kind IN ('capture', 'release', 'expire')), 0) AS reserved
      FROM mandate_ledger GROUP BY 1, 2)
    SELECT 'mandate' AS what, m.mandate_id AS id, m.spent || '/' || m.reserved AS found,
        coalesce(s.spent, 0) || '/' || coalesce(s.reserved, 0) AS expected
      FROM mandates m LEFT JOIN sums s USING (mandate_id)
      WHERE m.spent <> coalesce(s.spent, 0) OR m.reserved <> coalesce(s.reserved, 0)
    UNION ALL
    SELECT 'bucket', b.mandate_id || ' ' || b.window_key, b.spent || '/' || b.reserved || '/' || b.payments,
        coalesce(p.spent, 0) || '/' || coalesce(p.reserved, 0) || '/' || coalesce(p.payments, 0)
      FROM usage_buckets b LEFT JOIN parts p USING (mandate_id, window_key, start)
      WHERE b.spent <> coalesce(p.spent, 0) OR b.reserved <> coalesce(p.reserved, 0) OR b.payments <> coalesce(p.payments, 0)
    UNION ALL
    SELECT 'ledger', h.authorization_id, e.spent || '/' || e.reserved || '/' || e.refunded,
        h.spent || '/' || h.reserved || '/' || coalesce(h.refunded, 0)
      FROM holds h LEFT JOIN entries e USING (authorization_id, mandate_id)
      WHERE CASE WHEN h.captured IS NULL THEN (e.held, e.spent) IS DISTINCT FROM (h.amount, h.spent)
        ELSE (e.spent, e.reserved, e.refunded) IS DISTINCT FROM (h.spent, h.reserved, h.refunded) END
    UNION ALL
    SELECT 'execution', e.execution_id, r.status, e.settlement_status
      FROM executions e JOIN reservations r USING (authorization_id)
      WHERE (e.settlement_status IN ('pending', 'processing', 'unknown') AND r.status <> 'submitted')
        OR (e.settlement_status = 'settled' AND r.status <> CASE WHEN e.next_check_at IS NULL THEN 'captured' ELSE 'submitted' END)
    UNION ALL
    SELECT 'authorization', authorization_id, count(*)::text, '1'
      FROM executions WHERE settlement_status = 'settled' GROUP BY authorization_id HAVING count(*) > 1`);
}
