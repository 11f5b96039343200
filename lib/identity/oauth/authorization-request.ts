import { env } from "#lib/env.ts";
import { codeRefusal } from "#lib/identity/oauth/metadata/client-metadata.ts";
import { connectRequestOf, keptQuery, type ConnectRequest } from "#lib/identity/oauth/connect-request.ts";
import { admitDocument } from "#lib/identity/oauth/register-client.ts";
import { saveOAuthResource } from "#lib/identity/oauth/token-store.ts";
import { CONNECT_PATH, mcpResource, oauthIssuer } from "#lib/identity/oauth-terms.ts";
import { auth } from "#lib/identity/sessions/auth.ts";
import { perProcess } from "#lib/process.ts";

/**
 * Anybody can register a client, so an error is never sent to the client's address: a link to this service would lead a person
 * there who decided nothing. The page shows the error.
 */
export type RequestAnswer =
  | { readonly kind: "accepted"; readonly request: ConnectRequest }
  | { readonly kind: "unusable"; readonly error: string };

/** Stores the row of the resource /mcp once per process, because the OAuth plugin looks for the row when it checks a request. */
function resourceStored(): Promise<void> {
  const state = perProcess("identity/oauth/authorization-request", () => ({ done: null as Promise<void> | null }));
  state.done ??= saveOAuthResource(mcpResource()).catch((error: unknown) => {
    state.done = null;
    throw error;
  });
  return state.done;
}

/** The method of better-auth's API that the OAuth plugin adds (see oauthServer). */
type ProviderApi = {
  readonly oauth2Authorize: (input: {
    readonly query: Readonly<Record<string, string>>;
    readonly request: Request;
    readonly headers: Headers;
    readonly asResponse: true;
  }) => Promise<Response>;
};

type Provider = (query: URLSearchParams) => Promise<Response>;

/** The plugin gets no cookie, because it checks only client and parameters; a page of this service asks the person. */
const askProvider: Provider = (query) => {
  const request = new Request(`${oauthIssuer()}/oauth2/authorize?${query}`, { headers: { accept: "text/html" } });
  const { oauth2Authorize } = auth().api as unknown as ProviderApi;
  return oauth2Authorize({ query: Object.fromEntries(query), request, headers: request.headers, asResponse: true });
};

type Asked = { readonly query: string; readonly address: string };

/**
 * The authorization endpoint calls this, and connectAgent calls it again before it stores the person's decision.
 * @throws Problem rate_limited if `address` names too many clients
 */
export async function readAuthorizationRequest({ query, address }: Asked, provider = askProvider): Promise<RequestAnswer> {
  const kept = keptQuery(query);
  if (kept === null) return { kind: "unusable", error: "invalid_request" };
  const redirectUri = kept.get("redirect_uri");
  if (redirectUri === null || codeRefusal(redirectUri) !== null) return { kind: "unusable", error: "invalid_redirect" };
  if (!(await admitDocument(kept.get("client_id") ?? "", address))) return { kind: "unusable", error: "invalid_document" };
  await resourceStored();
  const location = (await provider(kept)).headers.get("location");
  const to = location === null ? null : URL.parse(location, env().BASE_URL);
  if (to === null) return { kind: "unusable", error: "server_error" };
  if (to.origin !== env().BASE_URL || to.pathname !== CONNECT_PATH)
    return { kind: "unusable", error: to.searchParams.get("error") ?? "invalid_request" };
  const request = await connectRequestOf(kept);
  return request === null ? { kind: "unusable", error: "invalid_client" } : { kind: "accepted", request };
}
