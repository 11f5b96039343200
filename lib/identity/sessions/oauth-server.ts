import { oauthProvider } from "@better-auth/oauth-provider";
import type { BetterAuthPlugin } from "better-auth";
import { env } from "#lib/env.ts";
import { keyCapabilities } from "#lib/identity/capabilities.ts";

/** The page where a person allows an OAuth client. The authorization endpoint redirects the person to this page. */
export const CONNECT_PATH = "/connect";

/**
 * Every token begins with one of these prefixes, so that code can distinguish it from an API key, and programs that search for
 * leaked secrets can find it.
 */
export const ACCESS_TOKEN_PREFIX = "cso_";
const REFRESH_TOKEN_PREFIX = "csr_";

/** The URL for which access tokens are valid: the resource of RFC 8707 and RFC 9728. */
export const mcpResource = (): string => `${env().BASE_URL}/mcp`;

/** The URL that identifies this service as the issuer of tokens (RFC 8414, RFC 9207). */
export const oauthIssuer = (): string => `${env().BASE_URL}/api/auth`;

/** A client that asks for this scope gets a refresh token from the OAuth plugin. The scope gives no capability. */
export const REFRESH_SCOPE = "offline_access";

export const CODE_SECONDS = 300;

/**
 * The OAuth client of the command-line program in the package. All organizations use the same program, so none of them registers
 * it.
 */
export const CLI_CLIENT = {
  clientId: "countersign-cli",
  name: "Countersign command line",
  redirectUris: ["http://127.0.0.1/callback", "http://localhost/callback"],
} as const;

const cliClient = () => ({
  ...CLI_CLIENT,
  redirectUris: [...CLI_CLIENT.redirectUris],
  tokenEndpointAuthMethod: "none" as const,
  // The command-line program gets an API key, which needs no refresh token.
  grantTypes: ["authorization_code" as const],
  requirePKCE: true,
  clientDiscoveryId: "builtIn",
});

/**
 * The plugin's description of the data that it stores for each model. Only fields that have a column in this service's tables are
 * kept.
 */
type PluginSchema = NonNullable<BetterAuthPlugin["schema"]>;
/** The tables of this service by the names of the plugin's models. A table object has one field for each column. */
type Tables = Readonly<Record<string, object>>;

/**
 * Returns the plugin's schema without the fields that have no column here: those for OpenID Connect, secrets, consents and
 * resource policies, which this service does not use. With them, better-auth would refuse to start.
 */
function keptSchema(schema: PluginSchema, tables: Tables): PluginSchema {
  return Object.fromEntries(
    Object.entries(tables).map(([model, table]) => {
      const { fields = {}, ...rest } = schema[model] ?? {};
      const kept = Object.entries(fields).filter(([name]) => Object.hasOwn(table, name));
      return [model, { ...rest, fields: { ...Object.fromEntries(kept), ...(model === "oauthClient" && ours) } }];
    }),
  );
}

/** A field that this service adds to clients. No request to the plugin can set the field. */
const ours = { createdBy: { type: "string", required: true, input: false } } as const;

/**
 * The OAuth plugin of better-auth (the provider). It checks authorization requests, exchanges codes and rotates refresh tokens.
 * Tokens are random texts without content, so each request reads from the database whether its token is still valid. This service
 * itself asks people for consent, stores the clients and serves the discovery documents.
 */
export function oauthServer(tables: Tables): BetterAuthPlugin {
  const provider = oauthProvider({
    disableJwtPlugin: true,
    silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    scopes: [...keyCapabilities, REFRESH_SCOPE],
    grantTypes: ["authorization_code", "refresh_token"],
    // The plugin redirects a person without a cookie to `loginPage`. This service passes no cookies on, so the plugin redirects
    // everybody whose request is accepted to the page CONNECT_PATH.
    loginPage: CONNECT_PATH,
    consentPage: CONNECT_PATH,
    codeExpiresIn: CODE_SECONDS,
    accessTokenExpiresIn: 3_600,
    refreshTokenExpiresIn: 30 * 86_400,
    enforcePerClientResources: false,
    prefix: { opaqueAccessToken: ACCESS_TOKEN_PREFIX, refreshToken: REFRESH_TOKEN_PREFIX },
    extensions: [
      {
        clientDiscovery: {
          id: "builtIn",
          matches: (clientId) => clientId === CLI_CLIENT.clientId,
          resolve: () => cliClient(),
        },
      },
    ],
  });
  // The cast is safe: the types differ only in the plugin's description for OpenAPI, whose optional fields may be undefined. This
  // service does not use that description.
  const plugin = provider as unknown as BetterAuthPlugin;
  return { ...plugin, schema: keptSchema(plugin.schema ?? {}, tables) };
}
