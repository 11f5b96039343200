import { audit, clock, transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { capabilitiesOfRole, lackedOf, membershipRoleOf } from "#lib/identity/capabilities.ts";
import { newApiKey } from "#lib/identity/keys/api-key.ts";
import { giveSecret } from "#lib/identity/keys/service-account-store.ts";
import { findMember, lockOrganization } from "#lib/identity/member-store.ts";
import { readToken } from "#lib/identity/oauth/authenticate-agent.ts";
import { connectionOfToken, deleteTokens, hashToken, type TokenRow } from "#lib/identity/oauth/token-store.ts";
import { ACCESS_TOKEN_PREFIX, CLI_CLIENT } from "#lib/identity/oauth-terms.ts";

/** The JSON of a reply of the token endpoint. */
export type TokenAnswer = Readonly<Record<string, unknown>>;

/**
 * Gives the command-line program an API key instead of a token. The row that allows the program (the connection) becomes the
 * row of the key, and only this reply contains the key. Returns null if the row was revoked or has a key already, or if the
 * person has lost a capability that they allowed: the key would keep this capability, because only tokens are limited to the
 * person's current role.
 */
async function handOverKey({ keyId, userId, serviceAccountId, organizationId, allowed }: TokenRow): Promise<TokenAnswer | null> {
  const key = newApiKey(env().ENVIRONMENT, keyId);
  const given = await transact(async (tx) => {
    // The role of a member cannot change while the organization is locked.
    await lockOrganization(tx, organizationId);
    const member = await findMember(tx, organizationId, userId);
    const held = capabilitiesOfRole(member && membershipRoleOf(member.role));
    if (lackedOf(allowed, held).length > 0 || !(await giveSecret(tx, key))) return false;
    await deleteTokens(tx, keyId);
    const event = { actorId: userId, organizationId, entityType: "serviceAccount", entityId: serviceAccountId };
    audit(
      tx,
      { ...event, type: "serviceAccount.keyHandedOver", metadata: { clientId: CLI_CLIENT.clientId, keyId } },
      await clock(tx),
    );
    return true;
  });
  if (!given) {
    await deleteTokens(database(), keyId);
    return null;
  }
  return {
    access_token: key.apiKey,
    token_type: "Bearer",
    scope: allowed.join(" "),
    service_account_id: serviceAccountId,
    organization_id: organizationId,
  };
}

/**
 * Checks the tokens that the OAuth plugin has just issued, and returns the reply to the client. The plugin checks codes and
 * refresh tokens; this function checks that the person's permission, the service account, the person and the membership are
 * still valid. If one of them is not, or if the command-line program gets no key (handOverKey), it deletes the tokens and
 * returns null. An answer without an access token also returns null.
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
