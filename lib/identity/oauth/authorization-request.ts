import { env } from "#lib/env.ts";
import { keyCapabilities } from "#lib/identity/capabilities.ts";
import { findClient } from "#lib/identity/oauth/client-store.ts";
import { saveResource } from "#lib/identity/oauth/token-store.ts";
import { auth } from "#lib/identity/sessions/auth.ts";
import { CLI_CLIENT, CONNECT_PATH, mcpResource, oauthIssuer } from "#lib/identity/sessions/oauth-server.ts";
import { perProcess } from "#lib/process.ts";
import type { Capability } from "#lib/vocabulary.ts";

/** What a client asks for, after the OAuth provider has accepted it. */
export type AuthorizationRequest = {
  readonly clientId: string;
  /** What the client calls itself. */
  readonly clientName: string;
  /** The organization that registered the client; null for the command line. */
  readonly organizationId: string | null;
  readonly redirectUri: string;
  readonly state: string | null;
  /** The capabilities that the client asks for. Null if it names none: then it takes what it gets. */
  readonly asked: readonly Capability[] | null;
  readonly codeChallenge: string;
};

/** An accepted request, an address that tells the client why not, or a code for the person if the client cannot be told. */
export type RequestAnswer =
  | { readonly kind: "accepted"; readonly request: AuthorizationRequest }
  | { readonly kind: "refused"; readonly location: string }
  | { readonly kind: "unusable"; readonly error: string };

/** The parameters that we read; everything else is dropped. */
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

/** The longest request: it must fit into the address of a page. */
const QUERY_MAX = 4_096;

/** The request with the parameters that we read, each once; null if one that must be unique is repeated. */
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

/** Stores the resource once per process, before the provider looks for it. */
function resourceStored(): Promise<void> {
  const state = perProcess("oauthResource", () => ({ done: null as Promise<void> | null }));
  state.done ??= saveResource(mcpResource()).catch((error: unknown) => {
    state.done = null;
    throw error;
  });
  return state.done;
}

/** The endpoint that oauthServer() adds. */
type ProviderApi = {
  readonly oauth2Authorize: (input: {
    readonly query: Readonly<Record<string, string>>;
    readonly request: Request;
    readonly headers: Headers;
    readonly asResponse: true;
  }) => Promise<Response>;
};

type Provider = (query: URLSearchParams) => Promise<Response>;

/** Asks the provider without counting a try. It gets no cookie: it judges the client, and our page asks the person. */
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

/** Asks the provider about a request. The same check runs for the endpoint, for the page and for the decision. */
export async function readAuthorizationRequest(query: string, provider = askProvider): Promise<RequestAnswer> {
  const kept = query.length > QUERY_MAX ? null : keptQuery(query);
  if (kept === null) return { kind: "unusable", error: "invalid_request" };
  // Otherwise an answer to the client could be taken for the way to our page.
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

/** The client's address with an answer: a code or an error. It names the issuer, as RFC 9207 says. */
export function answerTo({ redirectUri, state }: AuthorizationRequest, answer: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set("state", state);
  url.searchParams.set("iss", oauthIssuer());
  return url.href;
}
