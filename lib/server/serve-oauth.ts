import { ADDRESS_HEADER } from "#lib/http/address.ts";
import { parseJson, readBody, requireJsonType } from "#lib/http/json.ts";
import { exportMethods, type Methods, type Serve } from "#lib/api/route.ts";
import { authorizationServer, protectedResource } from "#lib/identity/oauth/documents.ts";
import { readAuthorizationRequest } from "#lib/identity/oauth/authorization-request.ts";
import { keptQuery, sealedQuery } from "#lib/identity/oauth/connect-request.ts";
import { registerClient } from "#lib/identity/oauth/register-client.ts";
import { settleTokens, type TokenAnswer } from "#lib/identity/oauth/settle-tokens.ts";
import { auth } from "#lib/identity/sessions/auth.ts";
import { CONNECT_PATH, knownResource } from "#lib/identity/oauth-terms.ts";
import { isProblem, Problem, problems } from "#lib/problem.ts";

const documentHeaders = {
  "Cache-Control": "public, max-age=300",
  // Clients that run in a page of another origin read these documents too.
  "Access-Control-Allow-Origin": "*",
  "X-Content-Type-Options": "nosniff",
};

const documentOf =
  (content: () => object): Serve =>
  () =>
    Promise.resolve(Response.json(content(), { headers: documentHeaders }));

export const protectedResourceMethods: Methods = exportMethods({ GET: documentOf(protectedResource) });
/** RFC 8414 puts the issuer's path after the well-known name. Older clients leave the issuer's path out, so two paths have it. */
export const authorizationServerMethods: Methods = exportMethods({ GET: documentOf(authorizationServer) });

/** RFC 6749, section 5.2. */
const tokenRefusal = (error: string, description: string, status = 400): Response =>
  Response.json({ error, error_description: description }, { status });

const redirect = (location: string): Response => new Response(null, { status: 302, headers: { Location: location } });

async function authorize(url: URL, headers: Headers): Promise<Response> {
  let limited: Response | undefined;
  const asked = { query: url.search, address: headers.get(ADDRESS_HEADER) ?? "unknown" };
  const answer = await readAuthorizationRequest(asked, async (query) => {
    // better-auth limits the requests of each network address in this handler.
    const response = await auth().handler(new Request(`${url.origin}${url.pathname}?${query}`, { headers }));
    if (response.status === 429) limited = response;
    return response;
  });
  if (limited) return limited;
  if (answer.kind === "unusable") return redirect(`${CONNECT_PATH}?${new URLSearchParams({ error: answer.error })}`);
  return redirect(`${CONNECT_PATH}?${sealedQuery(keptQuery(url.search) ?? new URLSearchParams())}`);
}

/** The parameters of a form, with the resource in the spelling that the library knows. */
function knownForm(body: string): string {
  const form = new URLSearchParams(body);
  const resources = form.getAll("resource");
  form.delete("resource");
  for (const resource of new Set(resources.map(knownResource))) form.append("resource", resource);
  return form.toString();
}

async function token(url: URL, headers: Headers, body: string): Promise<Response> {
  const answer = await auth().handler(new Request(url, { method: "POST", headers, body: knownForm(body) }));
  // The library can fail if several requests use the same code or refresh token at once.
  if (answer.status >= 500) return tokenRefusal("server_error", "The tokens could not be made. Try again.", answer.status);
  if (!answer.ok) return answer;
  const settled = await settleTokens((await answer.json()) as TokenAnswer);
  if (settled === null) return tokenRefusal("invalid_grant", "This connection has ended. Connect the client again.");
  return Response.json(settled, { headers: { Pragma: "no-cache" } });
}

/** Every program is registered as one without a secret, whatever it asks for (RFC 7591, section 3.2.1). */
async function register(request: Request, address: string): Promise<Response> {
  const type = request.headers.get("content-type");
  if (type === null) throw new Problem("content_type_unsupported", { detail: "Send the metadata as application/json." });
  requireJsonType(type);
  const registered = await registerClient(parseJson(await readBody(request)), address);
  if (!registered.ok) return tokenRefusal(registered.error, registered.detail);
  const { clientId, name, redirectUris, createdAt } = registered.client;
  const answer = {
    client_id: clientId,
    client_id_issued_at: Math.floor(createdAt.getTime() / 1_000),
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  return Response.json(answer, { status: 201 });
}

/** Refusals have the form of RFC 7591, section 3.2.2, which clients read. */
export async function serveRegistration(request: Request, address: string): Promise<Response> {
  try {
    return await register(request, address);
  } catch (error) {
    if (!isProblem(error) || problems[error.code].status >= 500) throw error;
    const { status } = problems[error.code];
    const { detail, errors, retryAfterSeconds } = error.details;
    const described = [detail, ...(errors ?? []).map((one) => `${one.pointer} ${one.detail}`.trim())].join(" ");
    const answer = tokenRefusal(status === 429 ? "temporarily_unavailable" : "invalid_client_metadata", described, status);
    if (retryAfterSeconds !== undefined) answer.headers.set("Retry-After", String(retryAfterSeconds));
    return answer;
  }
}

/** The library gets no cookie, as its answer must not depend on who is signed in; connectAgent takes the person's decision. */
export async function forwardOAuth(request: Request, path: string, given: Headers): Promise<Response> {
  const headers = new Headers();
  const address = given.get(ADDRESS_HEADER);
  if (address !== null) headers.set(ADDRESS_HEADER, address);
  const url = new URL(path, request.url);
  if (request.method !== "POST") {
    url.search = new URL(request.url).search;
    headers.set("accept", "text/html");
    return authorize(url, headers);
  }
  if (!/^application\/x-www-form-urlencoded(?:;|$)/i.test(request.headers.get("content-type") ?? "")) {
    return tokenRefusal("invalid_request", "Send the parameters as application/x-www-form-urlencoded.");
  }
  headers.set("content-type", "application/x-www-form-urlencoded");
  const body = await readBody(request);
  if (path.endsWith("/token")) return token(url, headers, body);
  return auth().handler(new Request(url, { method: "POST", headers, body }));
}
