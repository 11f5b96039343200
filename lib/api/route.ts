import { compileAccess } from "#lib/http/access.ts";
import { compileIdempotency } from "#lib/command/idempotency-key.ts";
import { compileInput, splitUrl } from "#lib/http/input.ts";
import { requireJsonAccepted, requireJsonType } from "#lib/http/json.ts";
import { untilOnStandby, urgentPool } from "#lib/db/client.ts";
import { followRequest, noteOrganization } from "#lib/db/request.ts";
import { DEADLINE_MS, withinDeadline } from "#lib/http/deadline.ts";
import { log } from "#lib/telemetry/log.ts";
import { observeRequest } from "#lib/telemetry/metrics.ts";
import {
  isListed,
  isStoredReply,
  type Caller,
  type Context,
  type Handler,
  type Input,
  type Operation,
} from "#lib/http/operation.ts";
import { requireOwnMandates } from "#lib/http/own-mandates.ts";
import { limitAnonymous, requireAllowed, takeAddress, takeCredential, type Allowance } from "#lib/http/rate-limit.ts";
import { loggedFailure, headersOf, problemReply, toProblem, type Reply } from "#lib/http/reply.ts";
import { authenticate, renewedCookie, type AuthenticateOptions } from "#lib/identity/sessions/authenticate.ts";
import { newId } from "#lib/ids.ts";
import { notFound, Problem } from "#lib/problem.ts";

type Plain = (request: Request) => Promise<Reply>;

/** `plain` saves the time that creating and reading a Response takes. */
export type Serve = ((request: Request) => Promise<Response>) & { readonly plain?: Plain };

export type Route = Serve & { readonly plain: Plain; readonly operation: Operation };

const toResponse = ({ status, headers, body }: Reply): Response => new Response(body, { status, headers });

const fromPlain = (plain: Plain): Serve & { readonly plain: Plain } =>
  Object.assign(async (request: Request) => toResponse(await plain(request)), { plain });

type Authenticate = (request: Request, options: AuthenticateOptions) => Promise<Caller | null>;

function replyOf(operation: Operation, result: unknown, request: Request, requestId: string, allowance: Allowance | null): Reply {
  if (isStoredReply(result)) {
    const headers = headersOf(requestId, result.status, allowance);
    if (result.replayed) headers["Idempotent-Replayed"] = "true";
    return { status: result.status, body: result.body, headers };
  }
  const status = operation.status ?? 200;
  const headers = headersOf(requestId, status, allowance);
  if (!isListed(result)) return { status, body: JSON.stringify(operation.response.parse(result)), headers };
  if (result.nextCursor !== null) {
    const { path, search } = splitUrl(request.url);
    const query = new URLSearchParams(search);
    query.set("cursor", result.nextCursor);
    headers["Link"] = `<${path}?${query}>; rel="next"`;
  }
  return { status, body: JSON.stringify(operation.response.parse(result.output)), headers };
}

function note(operation: Operation, status: number, requestId: string, started: number, error: unknown): void {
  const durationMs = performance.now() - started;
  observeRequest(operation.id, status, durationMs);
  if (status >= 500 && !operation.tellsState)
    log().warn({ requestId, operation: operation.id, status, durationMs, ...loggedFailure(error) }, "Request failed");
  else log().debug({ requestId, operation: operation.id, status, durationMs }, "Request answered");
}

/** Serves an operation. `authenticated` replaces the look-up of the caller where other credentials are accepted. */
export function route<O extends Operation>(operation: O, handler: Handler<O>, authenticated: Authenticate = authenticate): Route {
  const requireAccess = compileAccess(operation.access);
  const readInput = compileInput(operation);
  const readIdempotency = compileIdempotency(operation);
  const isPublic = operation.access === "anyone";
  const isSigned = operation.access === "signature";
  const hasBody = operation.method !== "GET";
  const limitMs = DEADLINE_MS + (operation.waitsMs ?? 0);
  const answer = async (request: Request): Promise<Reply> => {
    const started = performance.now();
    const requestId = newId("request");
    let allowance: Allowance | null = null;
    let reply: Reply;
    let cookie: string | null = null;
    let failure: unknown = null;
    const work = async (): Promise<Reply> => {
      // `dispatch` finds no route for a path with a final slash. Calling a route directly gives the same 404.
      if (splitUrl(request.url).path.endsWith("/")) throw notFound("path");
      requireJsonAccepted(request.headers.get("accept"));
      if (hasBody) requireJsonType(request.headers.get("content-type"));
      if (isPublic) requireAllowed(takeAddress(request));
      const on = operation.urgent ? urgentPool().sql : undefined;
      const caller = isPublic || isSigned ? null : await limitAnonymous(request, authenticated(request, { on }));
      if (caller) requireAllowed((allowance = takeCredential(caller)));
      if (caller?.kind === "session") cookie = renewedCookie(request);
      requireAccess(caller);
      noteOrganization(caller?.organizationId ?? null);
      const parsed = await readInput(request);
      requireOwnMandates(caller, operation.path, parsed);
      const idempotency = readIdempotency(request, parsed, caller);
      const input = { ...parsed.params, body: parsed.body, query: parsed.query };
      const context = { caller, requestId, idempotency, request };
      // The casts are safe: the checks above guarantee the types that the handlers expect.
      const result: unknown = await handler(input as unknown as Input<O>, context as unknown as Context<O>);
      if (isStoredReply(result) && result.replayed) await untilOnStandby(on);
      return replyOf(operation, result, request, requestId, allowance);
    };
    try {
      reply = await withinDeadline(work(), limitMs);
    } catch (error) {
      failure = error;
      reply = problemReply(toProblem(error, requestId, operation.id), requestId, allowance);
    }
    Object.assign(reply.headers, operation.headers);
    if (cookie !== null) reply.headers["Set-Cookie"] = cookie;
    note(operation, reply.status, requestId, started, failure);
    return reply;
  };
  return Object.assign(
    fromPlain((request) => followRequest(() => answer(request))),
    { operation },
  );
}

const refuse = (problem: Problem): Serve =>
  fromPlain((request) => {
    const reply = problemReply(problem, newId("request"), null);
    return Promise.resolve(request.method === "HEAD" ? { ...reply, body: null } : reply);
  });

export const notFoundRoute: Serve = refuse(notFound("path"));

/** Answers a request that cannot be read as HTTP, for example because its Host header is not valid. */
export const malformedRoute: Serve = refuse(
  new Problem("invalid_request", { detail: "The request cannot be read.", errors: [] }),
);

const refuseMethod = (allow: string): Serve =>
  refuse(new Problem("method_not_allowed", { detail: `This path answers ${allow} only.`, headers: { Allow: allow } }));

const exported = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
export type Methods = Readonly<Record<(typeof exported)[number], Serve>>;

function withoutBody(serve: Serve): Serve {
  const { plain } = serve;
  if (plain) return fromPlain(async (request) => ({ ...(await plain(request)), body: null }));
  return async (request) => {
    const { status, headers } = await serve(request);
    return new Response(null, { status, headers });
  };
}

/** The answers to each method: HEAD is GET without a body, and methods that are not given answer 405. */
export function exportMethods(served: Partial<Record<"GET" | "POST" | "PUT" | "PATCH", Serve>>): Methods {
  const all: Partial<Record<string, Serve>> = { ...served, ...(served.GET && { HEAD: withoutBody(served.GET) }) };
  const other = refuseMethod(Object.keys(all).toSorted().join(", "));
  return Object.fromEntries(exported.map((method) => [method, all[method] ?? other])) as Methods;
}

export const everyMethod = (serve: Serve): Methods => Object.fromEntries(exported.map((method) => [method, serve])) as Methods;

export const methods = (...routes: readonly Route[]): Methods =>
  exportMethods(Object.fromEntries(routes.map((one) => [one.operation.method, one])));
