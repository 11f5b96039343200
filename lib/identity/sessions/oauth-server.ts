import { oauthProvider } from "@better-auth/oauth-provider";
import type { BetterAuthPlugin } from "better-auth";
import { env } from "#lib/env.ts";
import { keyCapabilities } from "#lib/identity/capabilities.ts";

/** The page where a person allows a client, and where the authorization endpoint sends them. */
export const CONNECT_PATH = "/connect";

/** Marks of tokens, so that a token is told from an API key, and a leaked one is found. */
export const ACCESS_TOKEN_PREFIX = "cso_";
const REFRESH_TOKEN_PREFIX = "csr_";

/** What access tokens are for: the resource of RFC 8707 and 9728. */
export const mcpResource = (): string => `${env().BASE_URL}/mcp`;

/** The issuer of RFC 8414 and 9207. */
export const oauthIssuer = (): string => `${env().BASE_URL}/api/auth`;

/** The scope that makes the provider give refresh tokens. It allows nothing by itself. */
export const REFRESH_SCOPE = "offline_access";

export const CODE_SECONDS = 300;

/** The command line of our package. It is the same program for every organization, so no organization registers it. */
export const CLI_CLIENT = {
  clientId: "countersign-cli",
  name: "Countersign command line",
  redirectUris: ["http://127.0.0.1/callback", "http://localhost/callback"],
} as const;

const cliClient = () => ({
  ...CLI_CLIENT,
  redirectUris: [...CLI_CLIENT.redirectUris],
  tokenEndpointAuthMethod: "none" as const,
  // It gets an API key, which needs no refresh.
  grantTypes: ["authorization_code" as const],
  requirePKCE: true,
  clientDiscoveryId: "builtIn",
});

/** What the plugin would store about each model; only the fields that have a column of ours are kept. */
type PluginSchema = NonNullable<BetterAuthPlugin["schema"]>;
/** Our tables by the names of the plugin's models; a column is a member of its table. */
type Tables = Readonly<Record<string, object>>;

/**
 * The plugin's schema without OpenID Connect, secrets, consents and resource policies, which we do not use. better-auth refuses to start if
 * a field has no column.
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

/** Our operations alone write clients. */
const ours = { createdBy: { type: "string", required: true, input: false } } as const;

/**
 * The OAuth provider: it checks authorization requests, exchanges codes and rotates refresh tokens. Tokens are opaque, so that each request
 * reads from the database whether its token is live. Consent, clients and discovery documents are ours.
 */
export function oauthServer(tables: Tables): BetterAuthPlugin {
  const provider = oauthProvider({
    disableJwtPlugin: true,
    silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    scopes: [...keyCapabilities, REFRESH_SCOPE],
    grantTypes: ["authorization_code", "refresh_token"],
    // The endpoint gets no cookie, so every request that it accepts is sent to the login page: to our page.
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
  // The cast is safe: only the plugin's description for OpenAPI, which we do not use, has optional fields that may be undefined.
  const plugin = provider as unknown as BetterAuthPlugin;
  return { ...plugin, schema: keptSchema(plugin.schema ?? {}, tables) };
}
