import { randomBytes } from "node:crypto";
import type { z } from "zod";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import type { Handler, Operation } from "#lib/http/operation.ts";
import { route } from "#lib/api/route.ts";
import { newApiKey } from "#lib/identity/keys/api-key.ts";
import { sessionCookieLine } from "#lib/identity/sessions/session-cookie.ts";
import { apiKeys, member, organization, serviceAccounts, session, user } from "#lib/identity/tables.ts";
import { newId } from "#lib/ids.ts";
import type { ErrorBody } from "#lib/problem.ts";
import { resources, sellers } from "#lib/sellers/tables.ts";
import type { Capability, MembershipRole } from "#lib/vocabulary.ts";

/** The headers that authenticate a caller. */
export type Credential = Readonly<Record<string, string>>;

export const hourAhead = () => new Date(Date.now() + 3_600_000);

export async function createOrganization(name = "Acme"): Promise<string> {
  const id = newId("organization");
  const slug = `${name.toLowerCase()}-${randomBytes(6).toString("hex")}`;
  await database()
    .insert(organization)
    .values({ id, name, slug, environment: "sandbox", productRoles: ["buyer", "seller"] });
  return id;
}

/** A person of the organization with a valid session. */
export async function createPerson(organizationId: string, role: MembershipRole = "owner") {
  const userId = newId("user");
  const token = randomBytes(24).toString("base64url");
  const email = `${userId}@example.com`;
  await database().insert(user).values({ id: userId, name: "Ada", email, emailVerified: true, auditedAt: new Date() });
  await database()
    .insert(member)
    .values({ id: randomBytes(8).toString("hex"), organizationId, userId, role });
  await database()
    .insert(session)
    .values({ id: newId("session"), userId, token, expiresAt: hourAhead(), activeOrganizationId: organizationId });
  const [cookie = ""] = sessionCookieLine(token).split(";");
  const credential: Credential = { cookie, origin: env().BASE_URL };
  return { userId, credential };
}

/** A service account of the organization with a valid key. */
export async function createAgent(organizationId: string, capabilities: readonly Capability[]) {
  const serviceAccountId = newId("serviceAccount");
  const key = newApiKey("sandbox");
  await database()
    .insert(serviceAccounts)
    .values({
      serviceAccountId,
      organizationId,
      environment: "sandbox",
      name: "Agent",
      capabilities: [...capabilities],
      createdBy: "usr_test",
    });
  await database()
    .insert(apiKeys)
    .values({ keyId: key.keyId, serviceAccountId, organizationId, secretHash: key.secretHash, preview: key.keyPreview });
  const credential: Credential = { authorization: `Bearer ${key.apiKey}` };
  return { serviceAccountId, credential };
}

/** A registered seller with one resource at a fixed price. */
export async function createResource(organizationId: string, amount: string, { chain = "eip155:84532", asset = "USDC" } = {}) {
  const sellerId = newId("seller");
  const domain = `shop-${randomBytes(4).toString("hex")}.example.com`;
  const level = { minimumAssuranceLevel: "softwareApproved" };
  const payTo = `0x${randomBytes(20).toString("hex")}`;
  await database()
    .insert(sellers)
    .values({ sellerId, organizationId, environment: "sandbox", name: "Shop", domain, ...level });
  await database()
    .insert(resources)
    .values({
      sellerId,
      resourceId: "report",
      organizationId,
      method: "GET",
      pathTemplate: "/report",
      pricing: { type: "fixed", amount, asset },
      configurationSource: "api",
      acceptedPaymentChallengeTypes: ["x402"],
      ...level,
      paymentConfig: { chain, payTo, settlementMode: "offchainAuthorized", maxTimeoutSeconds: 60 },
      payTo,
    });
  return { sellerId, resourceId: "report", domain, payTo };
}

type RequestParts = {
  /** The ids of the path, in order. */
  readonly id?: string | readonly string[];
  readonly query?: string;
  readonly body?: unknown;
  readonly as?: Credential;
  readonly key?: string;
};

/** The same reply in two types: `data` for a success, `problem` for an error status. */
type TypedReply<O extends Operation> = {
  readonly status: number;
  readonly headers: Headers;
  readonly data: z.output<O["response"]>;
  readonly problem: ErrorBody;
};

/** Sends a request to an operation, through the same code as a server. */
export async function send<O extends Operation>(
  operation: O,
  handler: Handler<O>,
  sent: RequestParts = {},
): Promise<TypedReply<O>> {
  const { id = "", query = "", body, as = {}, key } = sent;
  const { method, path } = operation;
  const writes = method !== "GET";
  const headers = {
    ...as,
    ...(key !== undefined && { "idempotency-key": key }),
    ...(writes && { "content-type": "application/json" }),
  };
  const given = [id].flat();
  const wanted = path.match(/\{[^}]+\}/g)?.length ?? 0;
  if (wanted > given.filter((one) => one !== "").length) throw new Error(`${path} needs ${wanted} ids.`);
  const ids = given.values();
  const url = `${env().BASE_URL}${path.replace(/\{[^}]+\}/g, () => ids.next().value ?? "")}${query}`;
  const request = new Request(url, { method, headers, ...(writes && { body: JSON.stringify(body ?? {}) }) });
  const response = await route(operation, handler)(request);
  const reply: unknown = await response.json();
  return {
    status: response.status,
    headers: response.headers,
    data: reply as z.output<O["response"]>,
    problem: reply as ErrorBody,
  };
}
