import { randomBytes, randomInt } from "node:crypto";
import { hashPassword } from "better-auth/crypto";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { noteAddress } from "#lib/http/address.ts";
import { completeOnboarding } from "#lib/identity/sessions/complete-onboarding.ts";
import * as keys from "#lib/identity/keys/contract.ts";
import * as sessions from "#lib/identity/sessions/contract.ts";
import { createServiceAccount } from "#lib/identity/keys/create-service-account.ts";
import { invitationTokenOf } from "#lib/identity/members/invitation-token.ts";
import { serveAuth } from "#lib/server/serve-auth.ts";
import { sessionCookieLine } from "#lib/identity/sessions/session-cookie.ts";
import { account, invitation, session, user } from "#lib/identity/tables.ts";
import { newId } from "#lib/ids.ts";
import type { Capability, MembershipRole, ProductRole } from "#lib/vocabulary.ts";
import { send, type Credential } from "#test/tenant.ts";

/* Organizations, members and keys made by the real operations. People are inserted with a password and a session. tenant.ts
   inserts all rows directly, which is faster. */

export const PASSWORD = "correct horse battery staple";

export type Person = { readonly userId: string; readonly email: string; readonly credential: Credential };
export type Owner = Person & { readonly organizationId: string };
export type Agent = {
  readonly serviceAccountId: string;
  readonly organizationId: string;
  readonly apiKey: string;
  readonly credential: Credential;
};

const anyAddress = (): string => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;

/**
 * Calls better-auth as the server does, by default from a random IP address, because sign-ups and sign-ins are limited by IP
 * address.
 */
export async function callAuth(path: string, body: unknown, headers: Credential = {}, address = anyAddress()): Promise<Response> {
  const request = new Request(`${env().BASE_URL}/api/auth${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: env().BASE_URL, ...headers },
    body: JSON.stringify(body),
  });
  noteAddress(request, address);
  return serveAuth(request);
}

/** The headers that a browser sends after a reply that set the session cookie. */
export function credentialOf(response: Response): Credential {
  const line = response.headers.getSetCookie().find((one) => one.includes(".session_token="));
  if (line === undefined) throw new Error(`No session: ${response.status}`);
  return { cookie: line.slice(0, line.indexOf(";")), origin: env().BASE_URL };
}

export const signIn = async (email: string, password = PASSWORD): Promise<Credential> =>
  credentialOf(await callAuth("/sign-in/email", { email, password }));

const twelveHoursAhead = () => new Date(Date.now() + 12 * 3_600_000);

async function newSession(userId: string): Promise<Credential> {
  const token = randomBytes(24).toString("base64url");
  await database()
    .insert(session)
    .values({ id: newId("session"), userId, token, expiresAt: twelveHoursAhead(), userAgent: "" });
  const [cookie = ""] = sessionCookieLine(token).split(";");
  return { cookie, origin: env().BASE_URL };
}

let hash: Promise<string> | undefined;

/** The hash of PASSWORD as better-auth stores it. Computing it is slow, so it is computed once per process. */
const hashed = (): Promise<string> => (hash ??= hashPassword(PASSWORD));

/**
 * Inserts a person with PASSWORD and a session, who has no organization yet. auth.test.ts tests the real sign-up and sign-in.
 */
export async function newPerson(name = "Ada"): Promise<Person> {
  const userId = newId("user");
  const email = `${randomBytes(8).toString("hex")}@example.com`;
  const password = await hashed();
  await database().transaction(async (tx) => {
    await tx.insert(user).values({ id: userId, name, email });
    await tx.insert(account).values({ id: newId("account"), accountId: userId, providerId: "credential", userId, password });
  });
  return { userId, email, credential: await newSession(userId) };
}

type OrganizationOptions = { readonly productRoles?: ProductRole[]; readonly name?: string };

/** An organization with its owner, who has just onboarded. */
export async function newOrganization({ productRoles = ["buyer"], name = "Acme" }: OrganizationOptions = {}): Promise<Owner> {
  const person = await newPerson();
  const body = { organizationName: name, productRoles };
  const { status, data, problem } = await send(sessions.completeOnboarding, completeOnboarding, { body, as: person.credential });
  if (status !== 200) throw new Error(problem.detail);
  return { ...person, organizationId: data.session.activeOrganization!.organizationId };
}

/** Inserts an invitation without its mail and audit event. Returns its token. */
export async function newInvitation(owner: Owner, email: string, role: MembershipRole, expiresInMs = 3_600_000): Promise<string> {
  const id = newId("invitation");
  const { organizationId, userId: inviterId } = owner;
  const expiresAt = new Date(Date.now() + expiresInMs);
  await database().insert(invitation).values({ id, organizationId, email, role, expiresAt, inviterId });
  return invitationTokenOf(id);
}

/** Another person in the organization, who has accepted an invitation. */
export async function newMember(owner: Owner, role: MembershipRole): Promise<Owner> {
  const person = await newPerson("Grace");
  const invitationToken = await newInvitation(owner, person.email, role);
  const body = { organizationName: "ignored", productRoles: ["buyer"], invitationToken };
  const { status, problem } = await send(sessions.completeOnboarding, completeOnboarding, { body, as: person.credential });
  if (status !== 200) throw new Error(problem.detail);
  return { ...person, organizationId: owner.organizationId };
}

/** Creates a service account of the owner's organization. Without `capabilities` it gets those of an agent. */
export async function newKey(
  { organizationId, credential }: Pick<Owner, "organizationId" | "credential">,
  capabilities?: readonly Capability[],
): Promise<Agent> {
  const body = { name: "Agent", organizationId, ...(capabilities && { capabilities }) };
  const { status, data, problem } = await send(keys.createServiceAccount, createServiceAccount, { body, as: credential });
  if (status !== 201) throw new Error(problem.detail);
  const { serviceAccountId, apiKey = "" } = data;
  return { serviceAccountId, organizationId, apiKey, credential: { authorization: `Bearer ${apiKey}` } };
}
