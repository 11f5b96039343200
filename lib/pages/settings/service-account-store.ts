import { live } from "#lib/identity/live-store.ts";
import { sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import type { Scope } from "#lib/db/scope.ts";

/** The columns that the driver returns as text instead of dates. */
type Times = "createdAt" | "revokedAt" | "pausedAt" | "keyCreatedAt" | "lastUsedAt";

export type AccountLine = {
  readonly serviceAccountId: string;
  readonly name: string;
  readonly capabilities: readonly string[];
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  readonly pausedAt: Date | null;
  /** The only mandates that the account may use; null if it may use every mandate that admits it. */
  readonly mandateIds: readonly string[] | null;
  readonly ageDays: number;
  readonly preview: string;
  readonly keyCreatedAt: Date;
  readonly liveKeys: number;
  readonly lastUsedAt: Date | null;
  readonly address: string | null;
  readonly userAgent: string | null;
};

type AsText<R, K extends PropertyKey> = { [P in keyof R]: P extends K ? string | null : R[P] };

const time = (text: string | null): Date | null => (text === null ? null : new Date(text));

const lineOf = (row: AsText<AccountLine, Times>): AccountLine => ({
  ...row,
  createdAt: new Date(row.createdAt ?? 0),
  keyCreatedAt: new Date(row.keyCreatedAt ?? 0),
  revokedAt: time(row.revokedAt),
  pausedAt: time(row.pausedAt),
  lastUsedAt: time(row.lastUsedAt),
});

/** Shows the newest key of the keys page or the API, also a revoked or expired one; without one, the newest OAuth connection. */
const lines = (condition: ReturnType<typeof sql>, rows: number) => sql`
  SELECT a.service_account_id AS "serviceAccountId", a.name, a.capabilities, a.created_by AS "createdBy",
    a.created_at AS "createdAt", a.revoked_at AS "revokedAt", a.paused_at AS "pausedAt",
    a.mandate_ids AS "mandateIds",
    floor(extract(epoch FROM clock_timestamp() - k.created_at) / 86400)::int AS "ageDays",
    k.preview, k.created_at AS "keyCreatedAt", l.live AS "liveKeys",
    u.last_used_at AS "lastUsedAt", u.address, u.user_agent AS "userAgent"
  FROM (SELECT * FROM service_accounts s WHERE ${condition} ORDER BY s.service_account_id DESC LIMIT ${rows}) AS a
  JOIN LATERAL (SELECT preview, created_at FROM api_keys WHERE service_account_id = a.service_account_id
    ORDER BY client_id IS NOT NULL, created_at DESC, key_id DESC LIMIT 1) AS k ON true
  JOIN LATERAL (SELECT count(*)::int AS live FROM api_keys WHERE service_account_id = a.service_account_id
    AND client_id IS NULL AND ${sql.raw(live.key("api_keys"))}) AS l ON true
  LEFT JOIN LATERAL (SELECT w.* FROM api_keys o JOIN key_uses w ON w.key_id = o.key_id
    WHERE o.service_account_id = a.service_account_id ORDER BY w.last_used_at DESC LIMIT 1) AS u ON true
  ORDER BY a.service_account_id DESC`;

const owned = ({ organizationId, environment }: Scope) =>
  sql`s.organization_id = ${organizationId} AND s.environment = ${environment}`;

type PageOf = Scope & { readonly revoked: boolean; readonly place: string | null; readonly rows: number };

export async function selectAccounts({ revoked, place, rows, ...scope }: PageOf): Promise<AccountLine[]> {
  const kept = revoked ? sql`s.revoked_at IS NOT NULL` : sql`s.revoked_at IS NULL`;
  const older = place === null ? sql`` : sql` AND s.service_account_id < ${place}`;
  const found = await database().execute<AsText<AccountLine, Times>>(lines(sql`${owned(scope)} AND ${kept}${older}`, rows));
  return found.map(lineOf);
}

export async function findAccount(scope: Scope, serviceAccountId: string): Promise<AccountLine | null> {
  const found = await database().execute<AsText<AccountLine, Times>>(
    lines(sql`${owned(scope)} AND s.service_account_id = ${serviceAccountId}`, 1),
  );
  return found[0] ? lineOf(found[0]) : null;
}

export async function countAccounts(scope: Scope): Promise<{ readonly live: number; readonly revoked: number }> {
  const [row] = await database().execute<{ live: number; revoked: number }>(sql`
    SELECT count(*) FILTER (WHERE s.revoked_at IS NULL)::int AS live, count(*) FILTER (WHERE s.revoked_at IS NOT NULL)::int AS revoked
    FROM service_accounts s WHERE ${owned(scope)}`);
  return row ?? { live: 0, revoked: 0 };
}

export type KeyLine = {
  readonly keyId: string;
  readonly preview: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly expired: boolean;
  readonly lastUsedAt: Date | null;
  readonly address: string | null;
  readonly userAgent: string | null;
};

/** API keys and OAuth connections of the service account, also revoked and expired ones, newest first. */
export async function selectKeys(serviceAccountId: string, rows: number): Promise<KeyLine[]> {
  const found = await database().execute<AsText<KeyLine, Times | "expiresAt">>(sql`
    SELECT k.key_id AS "keyId", k.preview, k.created_at AS "createdAt", k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt",
      coalesce(k.expires_at <= clock_timestamp(), false) AS expired,
      u.last_used_at AS "lastUsedAt", u.address, u.user_agent AS "userAgent"
    FROM api_keys k LEFT JOIN key_uses u ON u.key_id = k.key_id
    WHERE k.service_account_id = ${serviceAccountId}
    ORDER BY k.created_at DESC, k.key_id DESC LIMIT ${rows}`);
  return found.map((row) => ({
    ...row,
    createdAt: new Date(row.createdAt ?? 0),
    expiresAt: time(row.expiresAt),
    revokedAt: time(row.revokedAt),
    lastUsedAt: time(row.lastUsedAt),
  }));
}
