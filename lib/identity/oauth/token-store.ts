import { createHash } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { database, pool, type Tx } from "#lib/db/client.ts";
import { oauthAccessToken, oauthRefreshToken, oauthResource } from "#lib/identity/oauth-tables.ts";
import { live } from "#lib/identity/live-store.ts";
import { verification } from "#lib/identity/tables.ts";
import { newId } from "#lib/ids.ts";

/** The OAuth plugin stores the same hash. */
export const hashToken = (token: string): string => createHash("sha256").update(token).digest("base64url");

export type TokenRow = {
  readonly keyId: string;
  readonly clientId: string;
  readonly serviceAccountId: string;
  readonly organizationId: string;
  readonly environment: string;
  readonly userId: string;
  readonly role: string;
  /** `scopes` are the scopes of the token; `allowed` are those that the person allowed to the client. */
  readonly scopes: readonly string[];
  readonly allowed: readonly string[];
  readonly capabilities: readonly string[];
  readonly paused: boolean;
  readonly mandateIds: readonly string[] | null;
};

const liveToken = () => pool().unsafe([live.token("t"), live.key("k"), live.account("a"), live.person("u")].join(" AND "));

/** Null unless token (for `audience`), connection and account are valid and the token's person is a member and not banned. */
export async function findLiveToken(tokenHash: string, audience: string): Promise<TokenRow | null> {
  const [row] = await pool()<TokenRow[]>`
    SELECT k.key_id AS "keyId", k.client_id AS "clientId", a.service_account_id AS "serviceAccountId",
           a.organization_id AS "organizationId", a.environment, m.user_id AS "userId", m.role, t.scopes, k.scopes AS allowed,
           a.capabilities, a.paused_at IS NOT NULL AS paused, a.mandate_ids AS "mandateIds"
    FROM oauth_access_token t
    JOIN api_keys k ON k.key_id = t.reference_id AND k.client_id = t.client_id AND k.created_by = t.user_id
    JOIN service_accounts a ON a.service_account_id = k.service_account_id
    JOIN member m ON m.organization_id = a.organization_id AND m.user_id = t.user_id
    JOIN "user" u ON u.id = t.user_id
    WHERE t.token = ${tokenHash} AND ${audience} = ANY(t.resources) AND ${liveToken()}`;
  return row ?? null;
}

/** Finds the connection even if the connection or the token is no longer valid. */
export async function connectionOfToken(tokenHash: string): Promise<string | null> {
  const [row] = await database()
    .select({ keyId: oauthAccessToken.referenceId })
    .from(oauthAccessToken)
    .where(eq(oauthAccessToken.token, tokenHash));
  return row?.keyId ?? null;
}

export async function deleteTokens(tx: Tx | ReturnType<typeof database>, keyId: string): Promise<void> {
  await tx.delete(oauthAccessToken).where(eq(oauthAccessToken.referenceId, keyId));
  await tx.delete(oauthRefreshToken).where(eq(oauthRefreshToken.referenceId, keyId));
}

/** The form in which the OAuth plugin reads the value when a client exchanges the code; insertCode adds the field `type`. */
export type CodeValue = {
  readonly query: Readonly<Record<string, string>>;
  readonly userId: string;
  readonly sessionId: string;
  readonly referenceId: string;
  readonly resource: readonly string[];
};

export async function insertCode(tx: Tx, code: string, value: CodeValue, seconds: number): Promise<void> {
  await tx.insert(verification).values({
    id: newId("verification"),
    identifier: hashToken(code),
    value: JSON.stringify({ type: "authorization_code", ...value }),
    expiresAt: sql`clock_timestamp() + make_interval(secs => ${seconds})`,
  });
}

/** The OAuth plugin refuses a resource that has no row. */
export async function saveOAuthResource(identifier: string): Promise<void> {
  await database()
    .insert(oauthResource)
    .values({ id: crypto.randomUUID(), identifier, name: "MCP" })
    .onConflictDoNothing({ target: oauthResource.identifier });
}
