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

type PluginSchema = NonNullable<BetterAuthPlugin["schema"]>;
/** Tables by the names of the plugin's models; a table object has one field for each column. */
type Tables = Readonly<Record<string, object>>;

/** Leaves out fields that have no column here, because better-auth's check of the schema would fail with them. */
function keptSchema(schema: PluginSchema, tables: Tables): PluginSchema {
  return Object.fromEntries(
    Object.entries(tables).map(([model, table]) => {
      const { fields = {}, ...rest } = schema[model] ?? {};
      const kept = Object.entries(fields).filter(([name]) => Object.hasOwn(table, name));
      return [model, { ...rest, fields: { ...Object.fromEntries(kept), ...(model === "oauthClient" && ours) } }];
    }),
  );
}

/** A field that this service adds to clients and that no request to the plugin can set. */
const ours = { createdBy: { type: "string", required: false, input: false } } as const;

/** Tokens are random texts without content, so each request reads from the database whether its token is still valid. */
export function oauthServer(tables: Tables): BetterAuthPlugin {
  const provider = oauthProvider({
    disableJwtPlugin: true,
    silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    scopes: [...keyCapabilities, REFRESH_SCOPE],
    grantTypes: ["authorization_code", "refresh_token"],
    // No cookies reach the plugin, so it never sees anybody signed in.
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
  // The types differ only in the plugin's description for OpenAPI, which this service does not use, so the cast is safe.
  const plugin = provider as unknown as BetterAuthPlugin;
  return { ...plugin, schema: keptSchema(plugin.schema ?? {}, tables) };
}
