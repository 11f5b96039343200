import { env } from "#lib/env.ts";
import type { KeyCaller } from "#lib/http/operation.ts";
import { agentSet, capabilitiesOfRole, keyCapabilities, membershipRoleOf } from "#lib/identity/capabilities.ts";
import { noteKeyUse } from "#lib/identity/keys/key-uses.ts";
import { findLiveToken, hashToken, type TokenRow } from "#lib/identity/oauth/token-store.ts";
import { authenticate, keyCallerOf } from "#lib/identity/sessions/authenticate.ts";
import { ACCESS_TOKEN_PREFIX, mcpResource } from "#lib/identity/oauth-terms.ts";
import { Problem } from "#lib/problem.ts";
import type { Capability } from "#lib/vocabulary.ts";

/** The scopes that the service recommends to OAuth clients: the default capabilities of a service account. */
export const advertisedScopes: readonly Capability[] = keyCapabilities.filter((capability) => agentSet.has(capability));

const TOKEN = new RegExp(`^bearer +${ACCESS_TOKEN_PREFIX}([A-Za-z]{32}) *$`, "i");

/** The same answer for all invalid tokens does not say whether a token ever existed. */
const tokenInvalid = (): Problem =>
  new Problem("api_key_invalid", { detail: "This access token is not valid. Refresh it, or connect the client again." });

/** Reads the database each time, so that a revoked token stops working at once. */
export async function readToken(token: string): Promise<TokenRow | null> {
  const row = await findLiveToken(hashToken(token), mcpResource());
  return row?.environment === env().ENVIRONMENT ? row : null;
}

/** Limits the caller to the token's scopes, to what the person allowed to the client, and to the person's current role. */
async function authenticateToken(token: string, request: Request): Promise<KeyCaller> {
  const row = await readToken(token);
  if (row === null) throw tokenInvalid();
  noteKeyUse(row.keyId, request);
  const held = capabilitiesOfRole(membershipRoleOf(row.role));
  return keyCallerOf(row, row.scopes, row.allowed, [...held]);
}

/**
 * Accepts an API key or an OAuth access token, but no session: browsers send cookies with requests that other sites cause.
 * @throws Problem unauthenticated, ambiguous_credentials, api_key_invalid
 */
export async function authenticateAgent(request: Request): Promise<KeyCaller> {
  const authorization = request.headers.get("authorization");
  const token = authorization === null ? undefined : TOKEN.exec(authorization)?.[1];
  if (token !== undefined) return authenticateToken(token, request);
  const caller = authorization === null ? null : await authenticate(request);
  if (caller?.kind === "key") return caller;
  throw new Problem("unauthenticated", {
    detail: "Send the API key of a service account as a bearer token, or sign in by OAuth.",
    nextActions: [{ type: "sign_in", label: "Sign in" }],
  });
}

/** The WWW-Authenticate header of a 401: the document that tells how to sign in (RFC 9728), and the scopes to ask for. */
export function agentChallenge(request: Request): string {
  const parts = [
    ...(request.headers.has("authorization") ? ['error="invalid_token"'] : []),
    `resource_metadata="${env().BASE_URL}/.well-known/oauth-protected-resource/mcp"`,
    `scope="${advertisedScopes.join(" ")}"`,
  ];
  return `Bearer ${parts.join(", ")}`;
}
