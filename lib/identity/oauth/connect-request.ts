import { createHmac, timingSafeEqual } from "node:crypto";
import { env } from "#lib/env.ts";
import { keyCapabilities } from "#lib/identity/capabilities.ts";
import { findClient } from "#lib/identity/oauth/client-store.ts";
import { CLI_CLIENT, oauthIssuer } from "#lib/identity/oauth-terms.ts";
import type { Capability } from "#lib/vocabulary.ts";

/** An OAuth client's authorization request, after better-auth's OAuth plugin (the provider) has accepted it. */
export type ConnectRequest = {
  readonly clientId: string;
  /** The name that the client was registered with. */
  readonly clientName: string;
  /** The organization that registered the client. Null for the command-line program, which no organization registers. */
  readonly organizationId: string | null;
  readonly redirectUri: string;
  readonly state: string | null;
  /** The capabilities that the client asks for. Null if its scope names none; then the person alone chooses them. */
  readonly asked: readonly Capability[] | null;
  readonly codeChallenge: string;
};

/** The parameters of an authorization request that this service reads. It ignores all others. */
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

/**
 * The maximum length of an authorization request in characters. The request must fit into the path to which a sign-in returns.
 */
const QUERY_MAX = 1_900;

/**
 * Returns the parameters of an authorization request that this service reads. Null if the request is too long or has one of
 * them twice with different values.
 */
export function keptQuery(query: string): URLSearchParams | null {
  if (query.length > QUERY_MAX) return null;
  const given = new URLSearchParams(query);
  const kept = new URLSearchParams();
  for (const name of NAMES) {
    const values = [...new Set(given.getAll(name))];
    if (values.length > 1) return null;
    if (values[0] !== undefined) kept.set(name, values[0]);
  }
  return kept;
}

const sealOf = (kept: URLSearchParams): Buffer =>
  createHmac("sha256", env().BETTER_AUTH_SECRET).update(`connect request\n${kept}`).digest();

/**
 * Returns the query for the page CONNECT_PATH, for a request that the provider has accepted. The parameter `seal` is an HMAC by
 * which readSealed recognizes the query.
 */
export const sealedQuery = (kept: URLSearchParams): string => `${kept}&seal=${sealOf(kept).toString("base64url")}`;

/**
 * Returns the request in the query of the page CONNECT_PATH. Null if the authorization endpoint did not make this query, or if
 * the client is no longer registered. The page cannot ask the OAuth plugin to check the query, and must not redirect anybody to
 * an address that was not checked.
 */
export async function readSealed(query: string): Promise<ConnectRequest | null> {
  const kept = keptQuery(query);
  if (kept === null) return null;
  const seal = Buffer.from(new URLSearchParams(query).get("seal") ?? "", "base64url");
  const right = sealOf(kept);
  return seal.length === right.length && timingSafeEqual(seal, right) ? connectRequestOf(kept) : null;
}

function capabilitiesOf(scope: string | null): Capability[] | null {
  const asked = new Set(scope?.split(" ") ?? []);
  const capabilities = keyCapabilities.filter((capability) => asked.has(capability));
  return capabilities.length === 0 ? null : capabilities;
}

/** Null if the client is not registered, or if the redirect URI or the code challenge is missing. */
export async function connectRequestOf(kept: URLSearchParams): Promise<ConnectRequest | null> {
  const clientId = kept.get("client_id") ?? "";
  const client = clientId === CLI_CLIENT.clientId ? { ...CLI_CLIENT, organizationId: null } : await findClient(clientId);
  const [redirectUri, codeChallenge] = [kept.get("redirect_uri"), kept.get("code_challenge")];
  if (!client || redirectUri === null || codeChallenge === null) return null;
  return {
    clientId,
    clientName: client.name,
    organizationId: client.organizationId,
    redirectUri,
    state: kept.get("state"),
    asked: capabilitiesOf(kept.get("scope")),
    codeChallenge,
  };
}

/** Returns the client's redirect URI with a code or an error as parameters. The parameter `iss` names the issuer (RFC 9207). */
export function answerTo({ redirectUri, state }: ConnectRequest, answer: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set("state", state);
  url.searchParams.set("iss", oauthIssuer());
  return url.href;
}
