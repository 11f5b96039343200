import { env } from "#lib/env.ts";

/* Values that the OAuth plugin, the operations and the pages of this service share. Pages must not load the plugin itself. */

/** The page where a person allows an OAuth client; the authorization endpoint redirects the person to this page. */
export const CONNECT_PATH = "/connect";

/** The prefix distinguishes a token from an API key, and lets programs that search for leaked secrets find the token. */
export const ACCESS_TOKEN_PREFIX = "cso_";
export const REFRESH_TOKEN_PREFIX = "csr_";

/** The URL for which access tokens are valid: the resource of RFC 8707 and RFC 9728. */
export const mcpResource = (): string => `${env().BASE_URL}/mcp`;

/** Clients also write the resource with a slash at its end, or name only the origin. Another text is returned unchanged. */
export function knownResource(resource: string): string {
  const { origin, href } = new URL(mcpResource());
  return [`${origin}/`, href, `${href}/`].includes(URL.parse(resource)?.href ?? "") ? mcpResource() : resource;
}

/** The URL that identifies this service as the issuer of tokens (RFC 8414, RFC 9207). */
export const oauthIssuer = (): string => `${env().BASE_URL}/api/auth`;

/** A scope that gives no capability: clients that may refresh get a refresh token for it. connectAgent always adds it. */
export const REFRESH_SCOPE = "offline_access";

export const CODE_SECONDS = 300;

/** The command-line program in the npm package `countersign`; no organization registers it, because all use the same one. */
export const CLI_CLIENT = {
  clientId: "countersign-cli",
  name: "Countersign command line",
  redirectUris: ["http://127.0.0.1/callback", "http://localhost/callback"],
} as const;
