import { env } from "#lib/env.ts";
import type { KeyCaller } from "#lib/http/operation.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { mcpScopes } from "#lib/mcp/scopes.ts";
import { Problem } from "#lib/problem.ts";

/**
 * The service account that a request to the MCP server acts for. A session is refused. Nothing is cached: it is called again before each
 * operation of a tool, so a revoked key stops at once.
 * @throws Problem unauthenticated, ambiguous_credentials, api_key_invalid
 */
export async function authenticateMcp(request: Request): Promise<KeyCaller> {
  const caller = request.headers.get("authorization") === null ? null : await authenticate(request);
  if (caller?.kind === "key") return caller;
  throw new Problem("unauthenticated", {
    detail: "Send the API key of a service account as a bearer token, or sign in by OAuth.",
    nextActions: [{ type: "sign_in", label: "Sign in" }],
  });
}

/** The WWW-Authenticate header of a 401. It tells a client where to find out how to sign in. */
export const mcpChallenge = (): string =>
  `Bearer resource_metadata="${env().BASE_URL}/.well-known/oauth-protected-resource/mcp", scope="${mcpScopes.join(" ")}"`;
