import { sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { live } from "#lib/identity/live-store.ts";

/** A valid API key and who made it, or the access of an OAuth client (a connection) and who allowed it. */
export type MadeKey = {
  readonly keyId: string;
  readonly preview: string;
  readonly name: string;
  readonly capabilities: readonly string[];
  readonly userId: string;
  /** True for the row of an OAuth client that uses tokens, which has no secret that a person could have seen. */
  readonly connection: boolean;
};

/**
 * If `userId` is null, lists the organization's valid keys; the account's creator counts as maker of keys without `created_by`.
 */
export async function liveKeysMade(db: Database | Tx, organizationId: string, userId: string | null): Promise<MadeKey[]> {
  const maker = sql`coalesce(k.created_by, a.created_by)`;
  const rows = await db.execute<MadeKey>(sql`
    SELECT k.key_id AS "keyId", k.preview, a.name, ${maker} AS "userId", k.secret_hash = '' AS connection,
      ARRAY(SELECT c FROM unnest(a.capabilities) AS c WHERE k.scopes IS NULL OR c = ANY(k.scopes)) AS capabilities
    FROM service_accounts a JOIN api_keys k ON k.service_account_id = a.service_account_id
    WHERE a.organization_id = ${organizationId} AND ${sql.raw(live.account("a"))} AND ${sql.raw(live.key("k"))}
      ${userId === null ? sql`` : sql`AND ${maker} = ${userId}`}
    ORDER BY k.created_at DESC, k.key_id DESC`);
  return [...rows];
}
