import { env } from "#lib/env.ts";
import { connectRequestOf, keptQuery, type ConnectRequest } from "#lib/identity/oauth/connect-request.ts";
import { saveResource } from "#lib/identity/oauth/token-store.ts";
import { CONNECT_PATH, mcpResource, oauthIssuer } from "#lib/identity/oauth-terms.ts";
import { auth } from "#lib/identity/sessions/auth.ts";
import { perProcess } from "#lib/process.ts";

/** The error of an unusable request is shown to the person, because nothing can be sent to the client. */
export type RequestAnswer =
  | { readonly kind: "accepted"; readonly request: ConnectRequest }
  | { readonly kind: "refused"; readonly location: string }
  | { readonly kind: "unusable"; readonly error: string };

/** Stores the row of the resource /mcp once per process, because the OAuth plugin looks for the row when it checks a request. */
function resourceStored(): Promise<void> {
  const state = perProcess("identity/oauth/authorization-request", () => ({ done: null as Promise<void> | null }));
  state.done ??= saveResource(mcpResource()).catch((error: unknown) => {
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

/** The authorization endpoint calls this, and connectAgent calls it again before it stores the person's decision. */
export async function readAuthorizationRequest(query: string, provider = askProvider): Promise<RequestAnswer> {
  const kept = keptQuery(query);
  if (kept === null) return { kind: "unusable", error: "invalid_request" };
  // A redirect to this service could not be distinguished from the redirect to the page that asks the person.
  if (URL.parse(kept.get("redirect_uri") ?? "")?.origin === env().BASE_URL)
    return { kind: "unusable", error: "invalid_redirect" };
  await resourceStored();
  const location = (await provider(kept)).headers.get("location");
  const to = location === null ? null : URL.parse(location, env().BASE_URL);
  if (to === null) return { kind: "unusable", error: "server_error" };
  if (to.origin === env().BASE_URL && to.pathname === "/sign-in") {
    return { kind: "unusable", error: to.searchParams.get("error") ?? "invalid_request" };
  }
  if (to.origin !== env().BASE_URL || to.pathname !== CONNECT_PATH) return { kind: "refused", location: to.href };
  const request = await connectRequestOf(kept);
  return request === null ? { kind: "unusable", error: "invalid_client" } : { kind: "accepted", request };
}
