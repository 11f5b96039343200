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

export type TokenAnswer = Readonly<Record<string, unknown>>;

/**
 * Turns the connection of the command-line program into an API key. Returns null if the connection was revoked or has a key, or
 * if the person lost a capability that they allowed, because only tokens are limited to the person's current role.
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

/** Null if the answer has no access token, or if the connection may not have it; the latter also deletes its tokens. */
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
