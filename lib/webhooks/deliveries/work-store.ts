import { pool } from "#lib/db/client.ts";

type Limits = {
  /** The maximum number of pending deliveries of an endpoint. At the limit, no delivery of a new event is started. */
  readonly openMax: number;
  /** The same limit for an endpoint with a failure since its last success or since it was enabled again. */
  readonly openFailingMax: number;
  /** After this time without an attempt, a failing endpoint gets one event beyond openFailingMax. */
  readonly probeMs: number;
};

/** Endpoints that fail come last; they get few new events, and their other events wait in the audit chain. */
export async function endpointsWithWork(
  busy: readonly string[],
  rows: number,
  { openMax, openFailingMax, probeMs }: Limits,
): Promise<readonly { readonly webhookEndpointId: string; readonly isFailing: boolean }[]> {
  const found = await pool()`
    SELECT e.webhook_endpoint_id, e.failing_since IS NOT NULL AS failing
    FROM webhook_endpoints e
    LEFT JOIN audit_heads h ON h.chain = e.organization_id
    WHERE e.status = 'enabled' AND e.webhook_endpoint_id <> ALL(${[...busy]}::text[]) AND (
      EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook_endpoint_id = e.webhook_endpoint_id AND d.status = 'pending'
        AND d.next_attempt_at <= (SELECT clock_timestamp()))
      OR h.sequence > e.sequence AND (
        e.failing_since IS NOT NULL AND NOT coalesce(e.last_attempt_at BETWEEN (SELECT clock_timestamp()) - ${probeMs} * interval '1 millisecond'
          AND (SELECT clock_timestamp()) + ${probeMs} * interval '1 millisecond', true)
        OR (SELECT count(*) FROM (SELECT FROM webhook_deliveries d
            WHERE d.webhook_endpoint_id = e.webhook_endpoint_id AND d.status = 'pending' LIMIT ${openMax}) AS open)
          < CASE WHEN e.failing_since IS NULL THEN ${openMax}::int ELSE ${openFailingMax}::int END))
    ORDER BY e.failing_since IS NOT NULL, e.last_attempt_at NULLS FIRST
    LIMIT ${rows}`;
  return found.map((row) => ({ webhookEndpointId: String(row["webhook_endpoint_id"]), isFailing: row["failing"] === true }));
}
