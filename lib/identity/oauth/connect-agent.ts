import { randomBytes } from "node:crypto";
import { audit, clock } from "#lib/audit/transact.ts";
import type { Tx } from "#lib/db/client.ts";
import { addressOf } from "#lib/http/address.ts";
import type { Handler, SessionCaller } from "#lib/http/operation.ts";
import { grantCapabilities, keyCapabilitiesOf } from "#lib/identity/capabilities.ts";
import { newKeyId } from "#lib/identity/keys/api-key.ts";
import { onceWithoutKey } from "#lib/identity/keys/present-service-account.ts";
import { insertConnection, insertServiceAccount, lockServiceAccount } from "#lib/identity/keys/service-account-store.ts";
import { requireStillHeld } from "#lib/identity/lock-members.ts";
import { readAuthorizationRequest } from "#lib/identity/oauth/authorization-request.ts";
import { answerTo, type ConnectRequest } from "#lib/identity/oauth/connect-request.ts";
import { keepClient, lockClient } from "#lib/identity/oauth/client-store.ts";
import * as contract from "#lib/identity/oauth/contract.ts";
import { redirectPlace } from "#lib/identity/oauth/redirect-uri.ts";
import { insertCode } from "#lib/identity/oauth/token-store.ts";
import { CODE_SECONDS, mcpResource, REFRESH_SCOPE } from "#lib/identity/oauth-terms.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import { newId } from "#lib/ids.ts";
import { invalidField, notFound, Problem } from "#lib/problem.ts";
import type { Capability } from "#lib/vocabulary.ts";

type Member = SessionCaller & { readonly organizationId: string };
type Body = Parameters<Handler<typeof contract.connectAgent>>[0]["body"];

/** @throws Problem invalid_request, or not_found for a client of another organization */
async function acceptedRequest(query: string, address: string, { organizationId }: Member): Promise<ConnectRequest> {
  const answer = await readAuthorizationRequest({ query, address });
  if (answer.kind !== "accepted")
    throw invalidField("/request", "This authorization request is not valid. Start again in the client.");
  const { request } = answer;
  if (request.organizationId !== null && request.organizationId !== organizationId) throw notFound("client");
  return request;
}

/** If the client asked for no capability, accepts all chosen ones. @throws Problem invalid_request */
function requireAsked(chosen: readonly Capability[], { asked }: ConnectRequest): void {
  const beyond = asked === null ? -1 : chosen.findIndex((capability) => !asked.includes(capability));
  if (beyond >= 0) throw invalidField(`/capabilities/${beyond}`, `The client did not ask for ${chosen[beyond]}.`);
}

/** The capabilities with which an agent can read what happens under all mandates of the organization. */
const readsAllMandates: ReadonlySet<Capability> = new Set(["audit:read", "billing:read"]);

function requireWithinMandates({ mandateIds, capabilities }: Body): void {
  const at = mandateIds === undefined ? -1 : capabilities.findIndex((capability) => readsAllMandates.has(capability));
  if (at >= 0) {
    throw invalidField(
      `/capabilities/${at}`,
      `${capabilities[at]} shows all mandates. Leave it out, or do not choose mandates for the agent.`,
    );
  }
}

function requireOneAccount({ serviceAccountId, name, mandateIds }: Body): void {
  if ((serviceAccountId === undefined) === (name === undefined)) {
    throw invalidField("/name", "Send name for a new service account, or serviceAccountId for one that exists.");
  }
  if (serviceAccountId !== undefined && mandateIds !== undefined) {
    throw invalidField("/mandateIds", "The mandates of a service account are chosen when it is made.");
  }
}

type Account = { readonly serviceAccountId: string; readonly organizationId: string; readonly scopes: readonly Capability[] };

async function newAccount(tx: Tx, caller: Member, body: Body, scopes: Capability[], now: Date): Promise<Account> {
  const { userId, organizationId, environment } = caller;
  const mandateIds = body.mandateIds === undefined ? null : [...new Set(body.mandateIds)];
  const account = { serviceAccountId: newId("serviceAccount"), organizationId, environment, name: body.name ?? "" };
  await insertServiceAccount(tx, { ...account, capabilities: scopes, createdBy: userId, createdAt: now, mandateIds });
  const event = { actorId: userId, organizationId, entityType: "serviceAccount", entityId: account.serviceAccountId };
  const metadata = { name: account.name, capabilities: scopes, ...(mandateIds && { mandateIds }) };
  audit(tx, { ...event, type: "serviceAccount.created", metadata }, now);
  return { ...account, scopes };
}

async function pickedAccount(tx: Tx, { organizationId }: Member, id: string, chosen: readonly Capability[]): Promise<Account> {
  const account = await lockServiceAccount(tx, organizationId, id);
  if (!account) throw notFound("service account");
  if (account.revoked) throw new Problem("conflict", { detail: "This service account was revoked. Choose another one." });
  const has = keyCapabilitiesOf(account.capabilities);
  const scopes = chosen.filter((capability) => has.has(capability));
  if (scopes.length === 0) throw invalidField("/capabilities", "This service account has none of these capabilities.");
  return { serviceAccountId: id, organizationId, scopes };
}

/** Keeps the client from being removed before this transaction ends. Returns false if it was removed already. */
async function holdClient(tx: Tx, { registration, organizationId, clientId }: ConnectRequest): Promise<boolean> {
  if (registration === "builtIn") return true;
  return organizationId === null ? keepClient(tx, clientId) : (await lockClient(tx, organizationId, clientId)) !== null;
}

/** The authorization code is secret, so it is not in the reply that is stored for retries. */
export const connectAgent: Handler<typeof contract.connectAgent> = async ({ body }, { caller, idempotency, request: sent }) => {
  requireOneAccount(body);
  requireWithinMandates(body);
  if (body.organizationId !== undefined && body.organizationId !== caller.organizationId) throw notFound("active organization");
  const request = await acceptedRequest(body.request, addressOf(sent), caller);
  requireAsked(body.capabilities, request);
  return onceWithoutKey(contract.connectAgent, idempotency, async (tx) => {
    const { userId, sessionId, organizationId } = caller;
    const held = await requireStillHeld(tx, caller, "serviceAccounts:manage");
    const chosen = grantCapabilities(body.capabilities, held);
    await requireProvedToGive(tx, caller);
    if (!(await holdClient(tx, request))) throw notFound("client");
    const now = await clock(tx);
    const account =
      body.serviceAccountId === undefined
        ? await newAccount(tx, caller, body, chosen, now)
        : await pickedAccount(tx, caller, body.serviceAccountId, chosen);
    const { serviceAccountId, scopes } = account;
    const { clientId, clientName, redirectUri, registration } = request;
    const keyId = newKeyId();
    const connection = { keyId, preview: `${clientName}, connected`, clientId, scopes, createdBy: userId, createdAt: now };
    await insertConnection(tx, account, connection);
    const code = randomBytes(32).toString("base64url");
    const query = {
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: [...scopes, REFRESH_SCOPE].join(" "),
      code_challenge: request.codeChallenge,
      code_challenge_method: "S256",
    };
    await insertCode(tx, code, { query, userId, sessionId, referenceId: keyId, resource: [mcpResource()] }, CODE_SECONDS);
    const event = { actorId: userId, organizationId, entityType: "serviceAccount", entityId: serviceAccountId };
    const codesGoTo = redirectPlace(redirectUri).name;
    const metadata = { clientId, clientName, registration, keyId, capabilities: scopes, codesGoTo };
    audit(tx, { ...event, type: "serviceAccount.connected", metadata }, now);
    return { serviceAccountId, connectionId: keyId, redirectTo: answerTo(request, { code }) };
  });
};
