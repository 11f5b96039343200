import { env } from "#lib/env.ts";
import { keyCapabilities } from "#lib/identity/capabilities.ts";
import { findClient } from "#lib/identity/oauth/client-store.ts";
import { saveResource } from "#lib/identity/oauth/token-store.ts";
import { auth } from "#lib/identity/sessions/auth.ts";
import { CLI_CLIENT, CONNECT_PATH, mcpResource, oauthIssuer } from "#lib/identity/sessions/oauth-server.ts";
import { perProcess } from "#lib/process.ts";
import type { Capability } from "#lib/vocabulary.ts";

/** An OAuth client's authorization request, after better-auth's OAuth plugin (the provider) has accepted it. */
export type AuthorizationRequest = {
  readonly clientId: string;
  /** The name that the client was registered with. */
  readonly clientName: string;
  /** The organization that registered the client. Null for the command-line program, which no organization registers. */
  readonly organizationId: string | null;
  readonly redirectUri: string;
  readonly state: string | null;
  /** The capabilities that the client asks for. Null if the request names none; then the person alone chooses them. */
  readonly asked: readonly Capability[] | null;
  readonly codeChallenge: string;
};

/**
 * The result of a check: the accepted request; or a URL that tells the client why the request is refused; or an error code to
 * show to the person, if nothing can be sent to the client.
 */
export type RequestAnswer =
  | { readonly kind: "accepted"; readonly request: AuthorizationRequest }
  | { readonly kind: "refused"; readonly location: string }
  | { readonly kind: "unusable"; readonly error: string };

/** The parameters of a request that the service reads. It ignores all others. */
const NAMES = [
  "response_type",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
  "resource",
  "prompt",
] as const;

/** The maximum length of a request in characters, because the request must fit into the URL of a page. */
const QUERY_MAX = 4_096;

/** Returns the request with only the parameters in NAMES. Returns null if a parameter has two different values. */
export function keptQuery(query: string): URLSearchParams | null {
  const given = new URLSearchParams(query);
  const kept = new URLSearchParams();
  for (const name of NAMES) {
    const values = [...new Set(given.getAll(name))];
    if (values.length > 1) return null;
    if (values[0] !== undefined) kept.set(name, values[0]);
  }
  return kept;
}

/** Stores the URL for which tokens are valid, once per process. The OAuth plugin looks for this row when it checks a request. */
function resourceStored(): Promise<void> {
  const state = perProcess("oauthResource", () => ({ done: null as Promise<void> | null }));
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

/**
 * Lets the OAuth plugin check a request, without counting it for the rate limit. The plugin gets no cookie, because it checks
 * only the client; a page of this service asks the person.
 */
const askProvider: Provider = (query) => {
  const request = new Request(`${oauthIssuer()}/oauth2/authorize?${query}`, { headers: { accept: "text/html" } });
  const { oauth2Authorize } = auth().api as unknown as ProviderApi;
  return oauth2Authorize({ query: Object.fromEntries(query), request, headers: request.headers, asResponse: true });
};

function capabilitiesOf(scope: string | null): Capability[] | null {
  const asked = new Set(scope?.split(" ") ?? []);
  const capabilities = keyCapabilities.filter((capability) => asked.has(capability));
  return capabilities.length === 0 ? null : capabilities;
}

/**
 * Lets the OAuth plugin check a request and returns the result. The authorization endpoint, the page and the person's decision
 * all use this check.
 */
export async function readAuthorizationRequest(query: string, provider = askProvider): Promise<RequestAnswer> {
  const kept = query.length > QUERY_MAX ? null : keptQuery(query);
  if (kept === null) return { kind: "unusable", error: "invalid_request" };
  // Refuse a redirect URI of this service. The code below could not distinguish a redirect to it from a redirect to the page that
  // asks the person.
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
  const clientId = kept.get("client_id") ?? "";
  const client = clientId === CLI_CLIENT.clientId ? { ...CLI_CLIENT, organizationId: null } : await findClient(clientId);
  const [redirectUri, codeChallenge] = [kept.get("redirect_uri"), kept.get("code_challenge")];
  if (!client || redirectUri === null || codeChallenge === null) return { kind: "unusable", error: "invalid_client" };
  return {
    kind: "accepted",
    request: {
      clientId,
      clientName: client.name,
      organizationId: client.organizationId,
      redirectUri,
      state: kept.get("state"),
      asked: capabilitiesOf(kept.get("scope")),
      codeChallenge,
    },
  };
}

/** Returns the client's redirect URI with a code or an error as parameters. The parameter `iss` names the issuer (RFC 9207). */
export function answerTo({ redirectUri, state }: AuthorizationRequest, answer: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set("state", state);
  url.searchParams.set("iss", oauthIssuer());
  return url.href;
}
