import { sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { firstIdAt } from "#lib/ids.ts";

let organizations = 0;

/**
 * Inserts payments of an organization, the newest last. One in 20 is denied, and one in 50 requires approval. The others have
 * an execution. The execution of one payment in 100 is unknown, of one in 100 has failed, and of the others is settled. Amounts
 * are 1, 2, 3 … atomic units.
 */
export async function seedPayments(organizationId: string, count: number): Promise<void> {
  const prefix = firstIdAt("authorization", new Date()).slice(0, 14) + String(organizations++).padStart(4, "0");
  await database().execute(sql`
    INSERT INTO payment_terms SELECT 'shop' || n, json_build_object('seller', json_build_object('domain', 'shop' || n || '.example'))
    FROM generate_series(0, 6) n ON CONFLICT DO NOTHING`);
  await database().execute(sql`
    INSERT INTO authorizations (authorization_id, organization_id, environment, mandate_id, policy_version, subject_id,
      intent_id, nonce, outcome, denial_code, intent, slot, fingerprint, findings, amount, buyer_share, seller_share,
      terms_id, asset, chain, settlement_mode, max_timeout_seconds, held, actor_id, request_id, sequence, hash, expires_at, created_at)
    SELECT ${prefix} || lpad(n::text, 12, '0'), o.id, 'sandbox', 'mdt_' || o.id || n % 10, 1,
      'sa_' || n % 5, o.id || n, o.id || n,
      CASE WHEN n % 20 = 0 THEN 'deny' WHEN n % 50 = 1 THEN 'requireApproval' ELSE 'allow' END,
      CASE WHEN n % 20 = 0 THEN 'period_budget_exceeded' END,
      json_build_object('idempotencyKey', 'k' || n),
      o.id || ' ' || n, 'f', '[1,1,"USDC","1"]', n, 0, 0, 'shop' || n % 7, 'USDC', 'eip155:84532', 'offchainAuthorized', 60, false, 'sa_' || n % 5, 'req_' || n, n, 'h',
      clock_timestamp(), clock_timestamp()
    FROM generate_series(1, ${count}::int) n, (SELECT ${organizationId}::text AS id) o`);
  await database().execute(sql`
    INSERT INTO executions (execution_id, authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode,
      settlement_status, settlement_reference, next_check_at)
    SELECT 'exe' || substr(authorization_id, 4), authorization_id, organization_id, environment, mandate_id, subject_id,
      'offchainAuthorized', CASE WHEN amount % 100 = 3 THEN 'unknown' WHEN amount % 100 = 5 THEN 'failed' ELSE 'settled' END,
      'tx' || authorization_id, CASE WHEN amount % 100 = 3 THEN clock_timestamp() END
    FROM authorizations WHERE organization_id = ${organizationId} AND outcome = 'allow'`);
}
