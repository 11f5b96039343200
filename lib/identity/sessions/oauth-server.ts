import { oauthProvider } from "@better-auth/oauth-provider";
import type { BetterAuthPlugin } from "better-auth";
import { keyCapabilities } from "#lib/identity/capabilities.ts";
import {
  ACCESS_TOKEN_PREFIX,
  CLI_CLIENT,
  CODE_SECONDS,
  CONNECT_PATH,
  REFRESH_SCOPE,
  REFRESH_TOKEN_PREFIX,
} from "#lib/identity/oauth-terms.ts";

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
