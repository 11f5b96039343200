import type { Sql } from "#lib/db/sql.ts";
import { isOwnOrigin } from "#lib/http/origin.ts";
import type { Caller, KeyCaller, SessionCaller } from "#lib/http/operation.ts";
import { env } from "#lib/env.ts";
import { matchesApiKey, parseApiKey } from "#lib/identity/keys/api-key.ts";
import { auditNewUser } from "#lib/identity/sessions/authentication/audit-new-user.ts";
import {
  capabilitiesOfRole,
  cutCapabilities,
  keyCapabilitiesOf,
  membershipRoleOf,
  pausedCapabilitiesOf,
  platformCapabilitiesOf,
  platformRolesOf,
} from "#lib/identity/capabilities.ts";
import { lookUpKey } from "#lib/identity/keys/key-lookups.ts";
import { noteKeyUse } from "#lib/identity/keys/key-uses.ts";
import { lookUpSession } from "#lib/identity/sessions/authentication/session-lookups.ts";
import {
  RENEWAL_SECONDS,
  SESSION_SECONDS,
  sessionCookieLine,
  sessionCookieOf,
  verifySessionCookie,
} from "#lib/identity/sessions/session-cookie.ts";
import { findLiveSession, renewSession, type KeyRow } from "#lib/identity/caller-store.ts";
import { isProblem, Problem } from "#lib/problem.ts";
import type { Environment } from "#lib/vocabulary.ts";

/** Every key that is not valid here gets the same answer, so that the answer reveals nothing about keys. */
const keyInvalid = (): Problem =>
  new Problem("api_key_invalid", { detail: "This API key is not valid here. Use a valid key of this installation." });

/** The caller has only capabilities that are in each of the lists `cuts`; null removes nothing. */
export const keyCallerOf = (
  row: Omit<KeyRow, "secretHash" | "scopes">,
  ...cuts: readonly (readonly string[] | null)[]
): KeyCaller => ({
  kind: "key",
  subjectId: row.serviceAccountId,
  serviceAccountId: row.serviceAccountId,
  organizationId: row.organizationId,
  keyId: row.keyId,
  environment: row.environment as Environment,
  capabilities: cutCapabilities((row.paused ? pausedCapabilitiesOf : keyCapabilitiesOf)(row.capabilities), ...cuts),
  ...(row.paused && { paused: true }),
  ...(row.mandateIds !== null && { mandateIds: row.mandateIds }),
});

async function authenticateKey(text: string, request: Request): Promise<KeyCaller> {
  const presented = parseApiKey(text);
  if (!presented || presented.environment !== env().ENVIRONMENT) throw keyInvalid();
  const row = await lookUpKey(presented.keyId);
  const matches = matchesApiKey(presented.apiKey, row?.secretHash ?? null);
  if (!row || !matches || row.environment !== presented.environment) throw keyInvalid();
  noteKeyUse(row.keyId, request);
  return keyCallerOf(row, row.scopes);
}

/** A browser can send the cookie also with requests that pages of other origins make. */
function requireOwnOrigin(request: Request): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  if (isOwnOrigin(request.headers.get("origin")) && request.headers.get("sec-fetch-site") !== "cross-site") return;
  throw new Problem("origin_not_allowed", {
    detail: `A request with a session must come from ${env().BASE_URL}. Programs use an API key instead.`,
  });
}

const renewed = new WeakMap<Request, string>();

/** Null unless this request has renewed its session. */
export const renewedCookie = (request: Request): string | null => renewed.get(request) ?? null;

export type AuthenticateOptions = {
  /** Set for requests that must not wait for an ordinary connection: the connection pool for urgent work. */
  readonly on?: Sql | undefined;
  /** False if the reply cannot set the renewed cookie. */
  readonly renew?: boolean;
};

async function authenticateSession(
  cookie: string,
  request: Request,
  { on, renew = true }: AuthenticateOptions,
): Promise<SessionCaller | null> {
  const token = verifySessionCookie(cookie);
  if (token === null) return null;
  const row = await (on ? findLiveSession(token, RENEWAL_SECONDS, SESSION_SECONDS, on) : lookUpSession(token));
  if (!row) {
    throw new Problem("session_expired", {
      detail: "This session has ended. Sign in again.",
      nextActions: [{ type: "sign_in", label: "Sign in" }],
    });
  }
  requireOwnOrigin(request);
  if (row.banned) throw new Problem("banned", { detail: "This account is banned. Ask the platform's support." });
  // Urgent work must not wait for an ordinary connection, so both steps are left to a later request.
  if (!row.audited && !on) await auditNewUser(row.userId);
  if (renew && row.renewable && !on) {
    await renewSession(row.sessionId, SESSION_SECONDS);
    renewed.set(request, sessionCookieLine(token));
  }
  const role = row.role === null ? null : membershipRoleOf(row.role);
  return {
    kind: "session",
    subjectId: row.userId,
    userId: row.userId,
    sessionId: row.sessionId,
    organizationId: row.organizationId,
    environment: env().ENVIRONMENT,
    capabilities: capabilitiesOfRole(role),
    platformCapabilities: platformCapabilitiesOf(platformRolesOf(row.platformRoles)),
  };
}

const BEARER = /^bearer +(\S+) *$/i;

/**
 * Nothing is cached, so that a key, session or role that was revoked before the request no longer works.
 * @throws Problem ambiguous_credentials, api_key_invalid, session_expired, origin_not_allowed, banned
 */
export async function authenticate(request: Request, options: AuthenticateOptions = {}): Promise<Caller | null> {
  const authorization = request.headers.get("authorization");
  const cookie = sessionCookieOf(request);
  if (authorization === null) return cookie === null ? null : authenticateSession(cookie, request, options);
  if (cookie !== null) {
    throw new Problem("ambiguous_credentials", { detail: "The request carries an API key and a session. Send one of them." });
  }
  const bearer = BEARER.exec(authorization);
  if (!bearer) throw keyInvalid();
  return authenticateKey(bearer[1]!, request);
}

/** Does not renew the session; null if there is no valid one, or if the person is banned. */
export async function authenticateReader(cookie: string | null): Promise<SessionCaller | null> {
  if (cookie === null) return null;
  try {
    // A page cannot set a cookie; the component KeepSession calls the API, which renews the session instead.
    const caller = await authenticate(new Request(env().BASE_URL, { headers: { cookie } }), { renew: false });
    return caller?.kind === "session" ? caller : null;
  } catch (error) {
    if (isProblem(error)) return null;
    throw error;
  }
}
