import { createHash, randomBytes, randomInt } from "node:crypto";
import { env } from "#lib/env.ts";
import { noteAddress } from "#lib/http/address.ts";
import type { MemberCaller } from "#lib/http/operation.ts";
import { connectAgent } from "#lib/identity/oauth/connect-agent.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { createAgentClient } from "#lib/identity/oauth/create-agent-client.ts";
import { authenticateReader } from "#lib/identity/sessions/authenticate.ts";
import { dispatch } from "#lib/server/entry.ts";
import type { Owner } from "#test/identity.ts";
import { send, type Credential } from "#test/tenant.ts";

/* An OAuth client as a program, and the decision of a person as the page sends it. */

export const REDIRECT = "http://127.0.0.1:7777/callback";

export const anyAddress = (): string => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;

/** Sends a program's request, by default from a random IP address, because requests are limited for each address. */
export async function program(
  path: string,
  form?: Readonly<Record<string, string>>,
  headers: Credential = {},
  address = anyAddress(),
): Promise<Response> {
  const request = new Request(`${env().BASE_URL}${path}`, {
    ...(form && { method: "POST", body: new URLSearchParams(form) }),
    headers,
  });
  noteAddress(request, address);
  return dispatch(request);
}

export async function registerClient(as: Credential, redirectUris = ["http://127.0.0.1/callback"]) {
  const body = { name: "Test client", redirectUris };
  const { status, data, problem } = await send(contract.createAgentClient, createAgentClient, { body, as });
  if (status !== 201) throw new Error(problem.detail);
  return data.clientId;
}

/** The person as a page sees them. */
export async function asMember({ credential, organizationId }: Owner): Promise<MemberCaller> {
  const caller = await authenticateReader(credential.cookie ?? null);
  if (caller === null) throw new Error("The person is not signed in.");
  return { ...caller, organizationId };
}

export type Asked = { readonly query: string; readonly verifier: string };

/** Makes an authorization request. `changes` replace parameters; an empty value removes one. */
export function asking(clientId: string, changes: Readonly<Record<string, string>> = {}): Asked {
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: REDIRECT,
    state: "state of the client",
    scope: "payments:authorize payments:read",
    resource: `${env().BASE_URL}/mcp`,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") query.delete(name);
    else query.set(name, value);
  }
  return { query: query.toString(), verifier };
}

export const authorize = async (query: string): Promise<URL> => {
  const answer = await program(`/api/auth/oauth2/authorize?${query}`);
  return new URL(answer.headers.get("location") ?? "", env().BASE_URL);
};

export const decide = (as: Credential, request: string, body: Readonly<Record<string, unknown>> = {}, key?: string) =>
  send(contract.connectAgent, connectAgent, {
    body: {
      request,
      ...(!("serviceAccountId" in body) && { name: "Connected agent" }),
      capabilities: ["payments:read"],
      ...body,
    },
    as,
    ...(key !== undefined && { key }),
  });

/** The authorization code in the address to which the browser is sent after the decision. */
export const codeOf = (redirectTo: string): string => new URL(redirectTo).searchParams.get("code") ?? "";

export const tokenForm = (clientId: string, code: string, verifier: string, redirectUri = REDIRECT) => ({
  grant_type: "authorization_code",
  client_id: clientId,
  code,
  code_verifier: verifier,
  redirect_uri: redirectUri,
});

export type Tokens = {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
  readonly expires_in: number;
  readonly error?: string;
};

export const takeTokens = async (form: Readonly<Record<string, string>>): Promise<{ status: number; data: Tokens }> => {
  const answer = await program("/api/auth/oauth2/token", form);
  return { status: answer.status, data: (await answer.json()) as Tokens };
};

/** Connects a client as a person would, and returns its tokens. `changes` are the changes of its authorization request. */
export async function connected(
  as: Credential,
  clientId: string,
  body: Readonly<Record<string, unknown>> = {},
  changes: Readonly<Record<string, string>> = {},
) {
  const { query, verifier } = asking(clientId, changes);
  const { status, data, problem } = await decide(as, query, body);
  if (status !== 201) throw new Error(problem.detail);
  const { data: tokens } = await takeTokens(tokenForm(clientId, codeOf(data.redirectTo), verifier));
  return { ...tokens, connectionId: data.connectionId, serviceAccountId: data.serviceAccountId };
}
