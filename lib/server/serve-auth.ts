import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { z } from "zod";
import { env } from "#lib/env.ts";
import { followRequest, lostDatabase } from "#lib/db/request.ts";
import { drainGate } from "#lib/command/gate-store.ts";
import { ADDRESS_HEADER, addressOf } from "#lib/http/address.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import { forwardOAuth, serveRegistration } from "#lib/server/serve-oauth.ts";
import { withinDeadline } from "#lib/http/deadline.ts";
import { check, splitUrl } from "#lib/http/input.ts";
import { parseJson, readBody, requireJsonType } from "#lib/http/json.ts";
import { isOwnOrigin } from "#lib/http/origin.ts";
import { problemReply, toProblem } from "#lib/http/reply.ts";
import { exportMethods, type Methods, notFoundRoute } from "#lib/api/route.ts";
import { RESET_SECONDS } from "#lib/identity/sessions/account-mails.ts";
import { auth } from "#lib/identity/sessions/auth.ts";
import { served, type Endpoint } from "#lib/identity/sessions/auth-inputs.ts";
import { authMethods } from "#lib/identity/sessions/auth-methods.ts";
import { isOffered, type ServedPath } from "#lib/identity/sessions/auth-paths.ts";
import { hasSessionFrom } from "#lib/identity/sessions/session-store.ts";
import { followFirstProof } from "#lib/identity/sessions/first-proof.ts";
import { newId } from "#lib/ids.ts";
import { Problem } from "#lib/problem.ts";

const BASE = "/api/auth";

const callbacks = { google: "/callback/google", github: "/callback/github" } as const;

const isServed = (path: string): path is ServedPath => !path.includes(":") && Object.hasOwn(served, path);

function find(path: string): Endpoint | undefined {
  if (!path.startsWith(BASE)) return undefined;
  const rest = path.slice(BASE.length);
  if (rest === callbacks.google || rest === callbacks.github) {
    return authMethods()[rest === callbacks.google ? "google" : "github"] ? served["/callback/:id"] : undefined;
  }
  return isServed(rest) && isOffered(rest) ? served[rest] : undefined;
}

/** The request's headers with its network address, and without content-length, because the body is written again. */
function headersFor(request: Request): Headers {
  const headers = new Headers(request.headers);
  headers.delete("content-length");
  headers.delete(ADDRESS_HEADER);
  const address = addressOf(request).replace("/64", "");
  if (address !== "unknown") headers.set(ADDRESS_HEADER, address);
  return headers;
}

async function readInput(request: Request, body: z.ZodType): Promise<Record<string, string>> {
  requireJsonType(request.headers.get("content-type"));
  const text = await readBody(request);
  return check(body, text === "" ? {} : parseJson(text), "") as Record<string, string>;
}

/** better-auth takes the token by GET, so the origin is checked here. Its answer to an invalid token is a redirect or 4xx. */
async function forwardLink(request: Request, url: URL, headers: Headers, input: Record<string, string>): Promise<Response> {
  if (!isOwnOrigin(request.headers.get("origin")) || request.headers.get("sec-fetch-site") === "cross-site") {
    throw new Problem("origin_not_allowed", { detail: `A link is opened from a page of ${env().BASE_URL}.` });
  }
  for (const [name, value] of Object.entries(input)) url.searchParams.set(name, value);
  headers.delete("content-type");
  const { result: answer, userId } = await followFirstProof(() => auth().handler(new Request(url, { headers })));
  if (answer.status === 429 || answer.status >= 500 || lostDatabase() !== null) return answer;
  if (answer.status !== 200) {
    throw new Problem("unauthenticated", { detail: "This link was used already or has expired. Ask for a new one." });
  }
  const reply = new Headers({ "content-type": "application/json" });
  for (const line of answer.headers.getSetCookie()) reply.append("set-cookie", line);
  if (userId === null) return new Response('{"status":true}', { headers: reply });
  await drainGate(`user ${userId}`);
  return new Response(JSON.stringify({ status: true, token: await passwordToken(userId) }), { headers: reply });
}

/** Creates a token like the one in the mail for a forgotten password. */
async function passwordToken(userId: string): Promise<string> {
  const token = randomBytes(24).toString("base64url");
  const { internalAdapter } = await auth().$context;
  const expiresAt = new Date(Date.now() + RESET_SECONDS * 1000);
  await internalAdapter.createVerificationValue({ identifier: `reset-password:${token}`, value: userId, expiresAt });
  return token;
}

/**
 * Tries from a network address with a session of the account count separately, so that other tries do not lock the owner out.
 * @throws Problem rate_limited, also for an e-mail address without an account, so that the answer reveals no account
 */
async function countTry({ triesPerAccount }: Endpoint, { email = "" }: Record<string, string>, address: string): Promise<void> {
  if (!triesPerAccount) return;
  const { max, windowSeconds } = triesPerAccount;
  const account = email.toLowerCase();
  const isKnown = await hasSessionFrom(account, address);
  await countAttempt("signIn", isKnown ? `${account} ${address}` : account, max, { windowSeconds });
}

async function forward(request: Request, found: Endpoint, path: string): Promise<Response> {
  const { method, body, query, asGet, floorMs } = found;
  if (request.method !== method && !(method === "GET" && request.method === "HEAD")) {
    throw new Problem("method_not_allowed", { detail: `This path answers ${method} only.`, headers: { Allow: method } });
  }
  const headers = headersFor(request);
  if (found.oauth) return forwardOAuth(request, path, headers);
  const url = new URL(path, request.url);
  if (!body) {
    if (query) url.search = new URL(request.url).search;
    return auth().handler(new Request(url, { headers }));
  }
  const input = await readInput(request, body);
  await countTry(found, input, headers.get(ADDRESS_HEADER) ?? "unknown");
  if (asGet) return forwardLink(request, url, headers, input);
  headers.set("content-type", "application/json");
  const answer = auth().handler(new Request(url, { method, headers, body: JSON.stringify(input) }));
  const [answered] = await Promise.all([answer, floorMs === undefined ? null : setTimeout(floorMs)]);
  return answered;
}

/** better-auth ends sessions without closing the gate, so the reply waits for transactions that may have read the old rights. */
const endsSessions = new Set([`${BASE}/sign-out`, `${BASE}/reset-password`]);

async function forwardAndDrain(request: Request, found: Endpoint, path: string): Promise<Response> {
  const answer = await forward(request, found, path);
  // If the database is not reachable, better-auth answers with its own refusal. Replace it by this service's problem.
  const lost = answer.ok ? null : lostDatabase();
  if (lost !== null) throw lost;
  if (answer.ok && endsSessions.has(path)) await drainGate(`sign-in ${addressOf(request)}`);
  return answer;
}

export const serveAuth = (request: Request): Promise<Response> => followRequest(() => answerAuth(request));

async function answerAuth(request: Request): Promise<Response> {
  const { path } = splitUrl(request.url);
  const found = find(path);
  return found ? answered(request, () => forwardAndDrain(request, found, path)) : notFoundRoute(request);
}

async function answered(request: Request, work: () => Promise<Response>): Promise<Response> {
  const requestId = newId("request");
  try {
    const answer = await withinDeadline(work());
    const headers = new Headers(answer.headers);
    headers.set("Request-Id", requestId);
    headers.set("Cache-Control", "no-store");
    const retryAfter = headers.get("x-retry-after");
    if (retryAfter !== null) headers.set("Retry-After", retryAfter);
    headers.set("X-Content-Type-Options", "nosniff");
    return new Response(request.method === "HEAD" ? null : answer.body, { status: answer.status, headers });
  } catch (error) {
    const { status, body, headers } = problemReply(toProblem(error, requestId, "signIn"), requestId, null);
    return new Response(request.method === "HEAD" ? null : body, { status, headers });
  }
}

/** Not an endpoint of better-auth, whose own registration writes other rows and has no limit of unused clients. */
export const registrationMethods: Methods = exportMethods({
  POST: (request) => followRequest(() => answered(request, () => serveRegistration(request, addressOf(request)))),
});
