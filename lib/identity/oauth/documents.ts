import { keyCapabilities } from "#lib/identity/capabilities.ts";
import { advertisedScopes } from "#lib/identity/oauth/authenticate-agent.ts";
import { mcpResource, oauthIssuer, REFRESH_SCOPE } from "#lib/identity/sessions/oauth-server.ts";

/** RFC 9728: what the MCP address is, and who gives tokens for it. */
export const protectedResource = () => ({
  resource: mcpResource(),
  resource_name: "Countersign",
  authorization_servers: [oauthIssuer()],
  scopes_supported: advertisedScopes,
  bearer_methods_supported: ["header"],
});

/** RFC 8414: the endpoints that we serve and what they accept. */
export const authorizationServer = () => ({
  issuer: oauthIssuer(),
  authorization_endpoint: `${oauthIssuer()}/oauth2/authorize`,
  token_endpoint: `${oauthIssuer()}/oauth2/token`,
  revocation_endpoint: `${oauthIssuer()}/oauth2/revoke`,
  scopes_supported: [...keyCapabilities, REFRESH_SCOPE],
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  token_endpoint_auth_methods_supported: ["none"],
  revocation_endpoint_auth_methods_supported: ["none"],
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
});
