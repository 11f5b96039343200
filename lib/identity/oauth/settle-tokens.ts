import { audit, clock, transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { newApiKey } from "#lib/identity/keys/api-key.ts";
import { giveSecret } from "#lib/identity/keys/service-account-store.ts";
import { readToken } from "#lib/identity/oauth/authenticate-agent.ts";
import { connectionOfToken, deleteTokens, hashToken, type TokenRow } from "#lib/identity/oauth/token-store.ts";
import { ACCESS_TOKEN_PREFIX, CLI_CLIENT } from "#lib/identity/sessions/oauth-server.ts";

/** What the token endpoint answers to a client. */
export type TokenAnswer = Readonly<Record<string, unknown>>;

/**
 * The command line gets an API key instead of a token: its connection becomes an ordinary key, and this answer alone shows it. Null if the
 * connection has ended meanwhile, or has given its key already.
 */
async function handOverKey({ keyId, userId, serviceAccountId, organizationId, allowed }: TokenRow): Promise<TokenAnswer | null> {
  const key = newApiKey(env().ENVIRONMENT, keyId);
  const given = await transact(async (tx) => {
    if (!(await giveSecret(tx, key))) return false;
    await deleteTokens(tx, keyId);
    const event = { actorId: userId, organizationId, entityType: "serviceAccount", entityId: serviceAccountId };
    audit(
      tx,
      { ...event, type: "serviceAccount.keyHandedOver", metadata: { clientId: CLI_CLIENT.clientId, keyId } },
      await clock(tx),
    );
    return true;
  });
  if (!given) return null;
  return {
    access_token: key.apiKey,
    token_type: "Bearer",
    scope: allowed.join(" "),
    service_account_id: serviceAccountId,
    organization_id: organizationId,
  };
}

/**
 * Decides about tokens that the OAuth provider has just made. The provider knows codes and refresh tokens; whether the connection, the
 * account, the person and their membership are live is read here. Null if they are not; the tokens are then deleted.
 */
export async function settleTokens(answer: TokenAnswer): Promise<TokenAnswer | null> {
  const { access_token: accessToken, scope } = answer;
  if (typeof accessToken !== "string") return null;
  const token = accessToken.slice(ACCESS_TOKEN_PREFIX.length);
  const row = await readToken(token);
  if (row === null) {
    const keyId = await connectionOfToken(hashToken(token));
    if (keyId !== null) await deleteTokens(database(), keyId);
    return null;
  }
  if (row.clientId === CLI_CLIENT.clientId) return handOverKey(row);
  const { access_token, token_type, expires_in, refresh_token } = answer;
  return { access_token, token_type, expires_in, ...(refresh_token !== undefined && { refresh_token }), scope };
}
