import { pool } from "#lib/db/client.ts";

type Limits = {
  /** The maximum number of pending deliveries of an endpoint. At the limit, no delivery of a new event is started. */
  readonly openMax: number;
  /** The same limit for an endpoint that fails: one with a failure since its last success or since it was enabled again. */
  readonly openFailingMax: number;
  /** Milliseconds after its last attempt after which an endpoint that fails gets one event beyond openFailingMax. */
  readonly probeMs: number;
};

/**
 * Returns at most `rows` enabled endpoints with messages to send, except those in `busy`. Endpoints that fail come last. They
 * get few new events; their other events wait in the audit chain and need no delivery row.
 */
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
        e.failing_since IS NOT NULL AND e.last_attempt_at < (SELECT clock_timestamp()) - ${probeMs} * interval '1 millisecond'
        OR (SELECT count(*) FROM (SELECT FROM webhook_deliveries d
            WHERE d.webhook_endpoint_id = e.webhook_endpoint_id AND d.status = 'pending' LIMIT ${openMax}) AS open)
          < CASE WHEN e.failing_since IS NULL THEN ${openMax}::int ELSE ${openFailingMax}::int END))
    ORDER BY e.failing_since IS NOT NULL, e.last_attempt_at NULLS FIRST
    LIMIT ${rows}`;
  return found.map((row) => ({ webhookEndpointId: String(row["webhook_endpoint_id"]), isFailing: row["failing"] === true }));
}
