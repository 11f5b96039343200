import type { Sql } from "#lib/db/sql.ts";
import { batchPool, pool } from "#lib/db/client.ts";
import { live } from "#lib/identity/live-store.ts";

export type KeyRow = {
  readonly keyId: string;
  readonly secretHash: string;
  readonly serviceAccountId: string;
  readonly organizationId: string;
  readonly environment: string;
  readonly capabilities: readonly string[];
  /** Null if the key has all capabilities of its service account. */
  readonly scopes: readonly string[] | null;
  readonly paused: boolean;
  readonly mandateIds: readonly string[] | null;
};

/** LIMIT makes PostgreSQL look up each id by itself instead of joining whole tables. */
export async function findLiveKeys(keyIds: readonly string[]): Promise<readonly KeyRow[]> {
  const c = batchPool().sql;
  return c<KeyRow[]>`
    SELECT k.key_id AS "keyId", k.secret_hash AS "secretHash", a.service_account_id AS "serviceAccountId",
           a.organization_id AS "organizationId", a.environment, a.capabilities, k.scopes, a.paused_at IS NOT NULL AS paused,
           a.mandate_ids AS "mandateIds"
    FROM unnest(${keyIds as string[]}::text[]) AS w(key_id),
      LATERAL (SELECT key_id, secret_hash, service_account_id, scopes FROM api_keys
        WHERE key_id = w.key_id AND ${c.unsafe(live.key("api_keys"))} LIMIT 1) k,
      LATERAL (SELECT service_account_id, organization_id, environment, capabilities, paused_at, mandate_ids
        FROM service_accounts WHERE service_account_id = k.service_account_id AND ${c.unsafe(live.account("service_accounts"))} LIMIT 1) a,
      LATERAL (SELECT id FROM organization WHERE id = a.organization_id LIMIT 1) o`;
}

export type SessionRow = {
  readonly sessionId: string;
  readonly userId: string;
  readonly banned: boolean;
  readonly platformRoles: readonly string[];
  readonly audited: boolean;
  /** Whether the session's expiry was last set more than `renewalSeconds` ago. */
  readonly renewable: boolean;
  readonly organizationId: string | null;
  readonly role: string | null;
};

/** Finds a banned person's session too; organization and role are null for a person outside the session's active organization. */
export async function findLiveSession(
  token: string,
  renewalSeconds: number,
  seconds: number,
  on: Sql = pool(),
): Promise<SessionRow | null> {
  const [row] = await on<SessionRow[]>`
    SELECT s.id AS "sessionId", u.id AS "userId",
           NOT (${on.unsafe(live.person("u"))}) AS banned,
           u.platform_roles AS "platformRoles", u.audited_at IS NOT NULL AS audited,
           s.expires_at < clock_timestamp() + make_interval(secs => ${seconds - renewalSeconds}) AS renewable,
           m.organization_id AS "organizationId", m.role
    FROM session s
    JOIN "user" u ON u.id = s.user_id
    LEFT JOIN member m ON m.user_id = s.user_id AND m.organization_id = s.active_organization_id
    WHERE s.token = ${token} AND ${on.unsafe(live.session("s"))}`;
  return row ?? null;
}

export async function renewSession(sessionId: string, seconds: number): Promise<void> {
  await pool()`
    UPDATE session SET expires_at = statement_timestamp() + make_interval(secs => ${seconds}), updated_at = statement_timestamp()
    WHERE id = ${sessionId} AND expires_at > statement_timestamp()`;
}
