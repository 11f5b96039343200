import { z } from "zod";
import { addressOf } from "#lib/http/address.ts";
import type { Mounted } from "#lib/http/dispatch.ts";
import { check, splitUrl } from "#lib/http/input.ts";
import { parseJson, readBody, requireJsonType } from "#lib/http/json.ts";
import { problemReply, toProblem } from "#lib/http/reply.ts";
import { notFoundRoute, type Methods } from "#lib/http/route.ts";
import { ADDRESS_HEADER, auth } from "#lib/identity/auth.ts";
import type { servedPaths } from "#lib/identity/auth-paths.ts";
import { newId } from "#lib/ids.ts";
import { Problem } from "#lib/problem.ts";

const BASE = "/api/auth";
const Email = z.email().max(254);
const Password = z.string().min(1).max(128);

type Served = { readonly method: "GET" | "POST"; readonly body?: z.ZodType };

/** Strict like our own operations: no field reaches better-auth that is not written here. */
const served: Readonly<Record<(typeof servedPaths)[number], Served>> = {
  "/sign-up/email": {
    method: "POST",
    body: z.strictObject({ name: z.string().trim().min(1).max(200), email: Email, password: z.string().min(12).max(128) }),
  },
  "/sign-in/email": {
    method: "POST",
    body: z.strictObject({ email: Email, password: Password, rememberMe: z.boolean().optional() }),
  },
  "/sign-out": { method: "POST", body: z.strictObject({}) },
  "/get-session": { method: "GET" },
  "/change-password": {
    method: "POST",
    body: z.strictObject({
      currentPassword: Password,
      newPassword: z.string().min(12).max(128),
      revokeOtherSessions: z.boolean().optional(),
    }),
  },
};

const find = (path: string): Served | undefined =>
  path.startsWith(BASE) && Object.hasOwn(served, path.slice(BASE.length))
    ? served[path.slice(BASE.length) as keyof typeof served]
    : undefined;

async function forward(request: Request, { method, body }: Served, path: string): Promise<Response> {
  if (request.method !== method && !(method === "GET" && request.method === "HEAD")) {
    throw new Problem("method_not_allowed", { detail: `This path answers ${method} only.`, headers: { Allow: method } });
  }
  const headers = new Headers(request.headers);
  headers.delete("content-length");
  headers.delete(ADDRESS_HEADER);
  const address = addressOf(request).replace("/64", "");
  if (address !== "unknown") headers.set(ADDRESS_HEADER, address);
  const url = new URL(path, request.url);
  if (!body) return auth().handler(new Request(url, { headers }));
  requireJsonType(request.headers.get("content-type"));
  headers.set("content-type", "application/json");
  const text = await readBody(request);
  const input = check(body, text === "" ? {} : parseJson(text), "");
  return auth().handler(new Request(url, { method, headers, body: JSON.stringify(input) }));
}

/** The endpoints of better-auth that we serve, under the limits of every other request. */
export async function serveAuth(request: Request): Promise<Response> {
  const { path } = splitUrl(request.url);
  const found = find(path);
  if (!found) return notFoundRoute(request);
  const requestId = newId("request");
  try {
    const answer = await forward(request, found, path);
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

export const authMethods: Methods = {
  GET: serveAuth,
  HEAD: serveAuth,
  POST: serveAuth,
  PUT: serveAuth,
  PATCH: serveAuth,
  DELETE: serveAuth,
  OPTIONS: serveAuth,
};

/** For the direct dispatch. */
export const authMounted: readonly Mounted[] = Object.keys(served).map((path) => ({ path: BASE + path, methods: authMethods }));
