import { z } from "zod";
import type { Mounted } from "#lib/server/dispatch.ts";
import { compileAccess } from "#lib/http/access.ts";
import { splitUrl } from "#lib/http/input.ts";
import { parseJson, readBody, requireJsonType } from "#lib/http/json.ts";
import { followRequest } from "#lib/db/request.ts";
import { withinDeadline } from "#lib/http/deadline.ts";
import type { KeyCaller } from "#lib/http/operation.ts";
import { limitAnonymous, requireAllowed, takeAddress, takeCredential } from "#lib/http/rate-limit.ts";
import { toProblem } from "#lib/http/reply.ts";
import { everyMethod, type Methods } from "#lib/api/route.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { newId } from "#lib/ids.ts";
import { Problem, problems } from "#lib/problem.ts";
import { answerSettle } from "#lib/execute/answer-settle.ts";
import { answerVerify } from "#lib/execute/answer-verify.ts";
import { readAsked } from "#lib/execute/settlement-request.ts";
import { supportedKinds } from "#lib/settlement/facilitator.ts";
import { x402Reason } from "#lib/settlement/x402-reason.ts";

const BASE = "/api/x402";

const Body = z.object({
  x402Version: z.literal([1, 2]),
  paymentPayload: z.looseObject({}),
  paymentRequirements: z.looseObject({ network: z.string() }),
});

type Endpoint = "verify" | "settle";

const requireSettle = compileAccess({ capability: "payments:settle" });

async function identify(request: Request): Promise<KeyCaller> {
  const caller = await limitAnonymous(request, authenticate(request));
  if (caller) requireAllowed(takeCredential(caller));
  requireSettle(caller);
  if (caller?.kind !== "key") throw new Problem("forbidden", { detail: "Only a service account's key may do this." });
  return caller;
}

type Reply = { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> };

const negative = (endpoint: Endpoint, reason: string, message: string, payer?: string | null) =>
  endpoint === "verify"
    ? { isValid: false, invalidReason: reason, invalidMessage: message, ...(payer && { payer }) }
    : { success: false, errorReason: reason, errorMessage: message, transaction: "", network: "", ...(payer && { payer }) };

async function answer(endpoint: Endpoint, request: Request): Promise<Reply> {
  const seller = await identify(request);
  requireJsonType(request.headers.get("content-type"));
  const parsed = Body.safeParse(parseJson(await readBody(request)));
  if (!parsed.success)
    return {
      status: 400,
      body: negative(endpoint, "invalid_payload", "The body is not a facilitator request of x402 version 1 or 2."),
    };
  const asked = await readAsked(parsed.data, seller.organizationId);
  if (!asked.ok) return { status: 200, body: negative(endpoint, x402Reason(asked.code), asked.detail, asked.payer) };
  return { status: 200, body: endpoint === "verify" ? await answerVerify(asked) : await answerSettle(asked, seller) };
}

/** Errors have the shape of x402 too, because standard x402 servers cannot read problems. */
function refusal(error: unknown, requestId: string, endpoint: Endpoint): Reply {
  const problem = toProblem(error, requestId, endpoint);
  const { status } = problems[problem.code];
  const { retryAfterSeconds, headers } = problem.details;
  const extra = { ...headers, ...(retryAfterSeconds !== undefined && { "Retry-After": String(retryAfterSeconds) }) };
  const unauthenticated = status === 401 ? { "WWW-Authenticate": 'Bearer realm="countersign"' } : {};
  return { status, body: negative(endpoint, problem.code, problem.details.detail), headers: { ...extra, ...unauthenticated } };
}

const respond = ({ status, body, headers }: Reply, requestId: string): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "Request-Id": requestId,
      ...headers,
    },
  });

const serve =
  (endpoint: Endpoint) =>
  (request: Request): Promise<Response> =>
    followRequest(() => serveFollowed(endpoint, request));

async function serveFollowed(endpoint: Endpoint, request: Request): Promise<Response> {
  const requestId = newId("request");
  try {
    return respond(await withinDeadline(answer(endpoint, request)), requestId);
  } catch (error) {
    return respond(refusal(error, requestId, endpoint), requestId);
  }
}

async function supported(request: Request): Promise<Response> {
  const requestId = newId("request");
  try {
    requireAllowed(takeAddress(request));
    const response = respond({ status: 200, body: supportedKinds() }, requestId);
    return request.method === "HEAD" ? new Response(null, response) : response;
  } catch (error) {
    return respond(refusal(error, requestId, "verify"), requestId);
  }
}

async function notAllowed(request: Request): Promise<Response> {
  const allow = splitUrl(request.url).path === `${BASE}/supported` ? "GET, HEAD" : "POST";
  const body = { error: "method_not_allowed", errorMessage: `This path answers ${allow} only.` };
  return respond({ status: 405, body, headers: { Allow: allow } }, newId("request"));
}

const none = everyMethod(notAllowed);

const supportedMethods: Methods = { ...none, GET: supported, HEAD: supported };
export const verifyMethods: Methods = { ...none, POST: serve("verify") };
export const settleMethods: Methods = { ...none, POST: serve("settle") };

export const facilitatorMounted: readonly Mounted[] = [
  { path: `${BASE}/supported`, methods: supportedMethods },
  { path: `${BASE}/verify`, methods: verifyMethods },
  { path: `${BASE}/settle`, methods: settleMethods },
];
