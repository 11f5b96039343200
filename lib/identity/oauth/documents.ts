import { keyCapabilities } from "#lib/identity/capabilities.ts";
import { advertisedScopes } from "#lib/identity/oauth/authenticate-agent.ts";
import { mcpResource, oauthIssuer, REFRESH_SCOPE } from "#lib/identity/oauth-terms.ts";

/** The document of RFC 9728: it describes the URL /mcp and names the server that gives tokens for this URL. */
export const protectedResource = () => ({
  resource: mcpResource(),
  resource_name: "Countersign",
  authorization_servers: [oauthIssuer()],
  scopes_supported: advertisedScopes,
  bearer_methods_supported: ["header"],
});

/** The document of RFC 8414: it lists the OAuth endpoints of this service and what they accept. */
export const authorizationServer = () => ({
  issuer: oauthIssuer(),
  authorization_endpoint: `${oauthIssuer()}/oauth2/authorize`,
  token_endpoint: `${oauthIssuer()}/oauth2/token`,
  revocation_endpoint: `${oauthIssuer()}/oauth2/revoke`,
  registration_endpoint: `${oauthIssuer()}/oauth2/register`,
  client_id_metadata_document_supported: true,
  scopes_supported: [...keyCapabilities, REFRESH_SCOPE],
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  token_endpoint_auth_methods_supported: ["none"],
  revocation_endpoint_auth_methods_supported: ["none"],
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
});
