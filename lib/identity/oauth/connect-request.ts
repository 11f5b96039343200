import { createHmac, timingSafeEqual } from "node:crypto";
import { env } from "#lib/env.ts";
import { keyCapabilities } from "#lib/identity/capabilities.ts";
import { findClient } from "#lib/identity/oauth/client-store.ts";
import { CLI_CLIENT, knownResource, oauthIssuer } from "#lib/identity/oauth-terms.ts";
import type { Capability } from "#lib/vocabulary.ts";

/** Who vouches for the name of a client: this project, an organization, the site with its metadata document, or nobody. */
export type Registration = "builtIn" | "organization" | "site" | "itself";

/** An OAuth client's authorization request, after better-auth's OAuth plugin (the provider) has accepted it. */
export type ConnectRequest = {
  readonly clientId: string;
  readonly clientName: string;
  readonly registration: Registration;
  /** Null if no organization registered the client; it can then work in any whose person allows it. */
  readonly organizationId: string | null;
  readonly redirectUri: string;
  readonly state: string | null;
  /** Null if the client's scope names no capability; then the person alone chooses the capabilities. */
  readonly asked: readonly Capability[] | null;
  readonly codeChallenge: string;
};

/** All other parameters of an authorization request are ignored. */
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

/** In characters; the request must fit into the path to which a sign-in returns. */
const QUERY_MAX = 1_900;

/** Null if the request is too long or has one of the parameters twice with different values. */
export function keptQuery(query: string): URLSearchParams | null {
  if (query.length > QUERY_MAX) return null;
  const given = new URLSearchParams(query);
  const kept = new URLSearchParams();
  for (const name of NAMES) {
    const values = [...new Set(name === "resource" ? given.getAll(name).map(knownResource) : given.getAll(name))];
    if (values.length > 1) return null;
    if (values[0] !== undefined) kept.set(name, values[0]);
  }
  return kept;
}

const sealOf = (kept: URLSearchParams): Buffer =>
  createHmac("sha256", env().BETTER_AUTH_SECRET).update(`connect request\n${kept}`).digest();

/** The query of the page CONNECT_PATH; `seal` is an HMAC by which readSealed recognizes the query. */
export const sealedQuery = (kept: URLSearchParams): string => `${kept}&seal=${sealOf(kept).toString("base64url")}`;

/** The page must not redirect to an unchecked URL; null for a wrong seal, or if keptQuery or connectRequestOf returns null. */
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

function registrationOf(clientId: string, organizationId: string | null): Registration {
  if (clientId === CLI_CLIENT.clientId) return "builtIn";
  if (organizationId !== null) return "organization";
  return URL.canParse(clientId) ? "site" : "itself";
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
    registration: registrationOf(clientId, client.organizationId),
    organizationId: client.organizationId,
    redirectUri,
    state: kept.get("state"),
    asked: capabilitiesOf(kept.get("scope")),
    codeChallenge,
  };
}

/** The parameter `iss` names the issuer (RFC 9207). */
export function answerTo({ redirectUri, state }: ConnectRequest, answer: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set("state", state);
  url.searchParams.set("iss", oauthIssuer());
  return url.href;
}
