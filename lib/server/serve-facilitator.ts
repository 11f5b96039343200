import { z } from "zod";
import { compileAccess } from "#lib/http/access.ts";
import { parseJson, readBody, requireJsonType } from "#lib/http/json.ts";
import { followRequest } from "#lib/db/request.ts";
import { withinDeadline } from "#lib/http/deadline.ts";
import type { KeyCaller } from "#lib/http/operation.ts";
import { limitAnonymous, requireAllowed, takeAddress, takeCredential } from "#lib/http/rate-limit.ts";
import { toProblem } from "#lib/http/reply.ts";
import { everyMethod, type Methods } from "#lib/api/route.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { env } from "#lib/env.ts";
import { newId } from "#lib/ids.ts";
import { Problem, problems } from "#lib/problem.ts";
import { answerSettle } from "#lib/execute/answer-settle.ts";
import { answerVerify } from "#lib/execute/answer-verify.ts";
import { readAsked } from "#lib/execute/settlement-request.ts";
import { supportedKinds } from "#lib/settlement/facilitator.ts";
import { x402Reason } from "#lib/settlement/x402-reason.ts";

const Body = z.object({
  x402Version: z.literal([1, 2]),
  paymentPayload: z.looseObject({}),
  paymentRequirements: z.looseObject({ network: z.string() }),
});

type Endpoint = "verify" | "settle";

/** A CAIP-2 chain, or a network name of x402 version 1. */
const NETWORK = /^[-a-zA-Z0-9:]{1,64}$/;

const requireSettle = compileAccess({ capability: "payments:settle" });

async function identify(request: Request): Promise<KeyCaller> {
  const caller = await limitAnonymous(request, authenticate(request));
  if (caller) requireAllowed(takeCredential(caller));
  requireSettle(caller);
  if (caller?.kind !== "key") throw new Problem("forbidden", { detail: "Only a service account's key may do this." });
  return caller;
}

type Reply = { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> };

type Told = { readonly payer?: string | null; readonly network?: string };

/** Clients need a network that is not empty in each answer to /settle, so if the request names none, it is the first configured. */
function negative(endpoint: Endpoint, reason: string, message: string, { payer, network }: Told = {}) {
  const paidBy = payer ? { payer } : {};
  if (endpoint === "verify") return { isValid: false, invalidReason: reason, invalidMessage: message, ...paidBy };
  const named = network !== undefined && NETWORK.test(network) ? network : (env().CHAINS[0]?.chain ?? "eip155:0");
  return { success: false, errorReason: reason, errorMessage: message, transaction: "", network: named, ...paidBy };
}

async function answer(endpoint: Endpoint, request: Request): Promise<Reply> {
  const seller = await identify(request);
  requireJsonType(request.headers.get("content-type"));
  const parsed = Body.safeParse(parseJson(await readBody(request)));
  if (!parsed.success)
    return {
      status: 400,
      body: negative(endpoint, "invalid_payload", "The body is not a facilitator request of x402 version 1 or 2."),
    };
  const { network } = parsed.data.paymentRequirements;
  const asked = await readAsked(parsed.data, seller.organizationId);
  if (!asked.ok)
    return { status: 200, body: negative(endpoint, x402Reason(asked.code), asked.detail, { payer: asked.payer, network }) };
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

const notAllowed = (allow: string, endpoint: Endpoint): Methods =>
  everyMethod(async () => {
    const body = { error: "method_not_allowed", ...negative(endpoint, "method_not_allowed", `This path answers ${allow} only.`) };
    return respond({ status: 405, body, headers: { Allow: allow } }, newId("request"));
  });

export const supportedMethods: Methods = { ...notAllowed("GET, HEAD", "verify"), GET: supported, HEAD: supported };
export const verifyMethods: Methods = { ...notAllowed("POST", "verify"), POST: serve("verify") };
export const settleMethods: Methods = { ...notAllowed("POST", "settle"), POST: serve("settle") };
