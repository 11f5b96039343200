import { beforeAll, describe, expect, test } from "vitest";
import { eq } from "drizzle-orm";
import { auditHeads } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import type { Operation } from "#lib/http/operation.ts";
import { invitation, passkey, session } from "#lib/identity/tables.ts";
import { newId } from "#lib/ids.ts";
import { operations } from "#lib/operations/operations.ts";
import { executions } from "#lib/holds/tables.ts";
import { pushDevices } from "#lib/push/tables.ts";
import { dispatch } from "#lib/server/entry.ts";
import { webhookEndpoints } from "#lib/webhooks/tables.ts";
import { Capability } from "#lib/vocabulary.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer } from "#test/mandates.ts";
import { approvedRow } from "#test/approved-row.ts";
import { connected, registerClient } from "#test/oauth.ts";
import { newSeller } from "#test/sellers.ts";
import { storedCard } from "#test/stored-card.ts";
import { createAgent, createOrganization, createPerson, type Credential } from "#test/tenant.ts";
import { waitingCheckout } from "#test/waiting-checkout.ts";

/* Calls operations that take an id with the id of an object of another organization. access.test.ts tests permissions. */

useDatabase();

const CANARY = "canary-of-the-victim";

/** Creates an organization with the objects whose ids `attempts` uses. */
async function createVictim() {
  const buyer = await createBuyer();
  const { organizationId, agent, person } = buyer;
  const mandateId = await activeMandate(person.credential, { name: CANARY, metadata: { note: CANARY } });
  const { authorizationId } = await authorize(buyer, mandateId);
  const seller = await newSeller(person.credential, { resourceId: CANARY });
  const executionId = newId("execution");
  await database().insert(executions).values({
    executionId,
    authorizationId,
    organizationId,
    environment: "sandbox",
    mandateId,
    subjectId: agent.serviceAccountId,
    settlementMode: "offchainAuthorized",
    settlementStatus: "failed",
    failureCode: "insufficient_funds",
  });
  const passkeyId = newId("passkey");
  const device = { deviceType: "multiDevice", backedUp: true, counter: 0, publicKey: "" };
  await database()
    .insert(passkey)
    .values({ id: passkeyId, name: CANARY, userId: person.userId, credentialID: passkeyId, ...device });
  const sessionId = newId("session");
  const endsAt = new Date(Date.now() + 600_000);
  await database().insert(session).values({ id: sessionId, userId: person.userId, token: sessionId, expiresAt: endsAt });
  // The device gets another session, because the call of endSession ends the session `sessionId`.
  const [deviceId, deviceSession] = [newId("device"), newId("session")];
  await database().insert(session).values({ id: deviceSession, userId: person.userId, token: deviceSession, expiresAt: endsAt });
  const browser = { endpoint: `https://push.example.com/${deviceId}`, p256dh: CANARY, auth: CANARY, details: true };
  await database()
    .insert(pushDevices)
    .values({ deviceId, sessionId: deviceSession, ...browser });
  // The test deletes the second endpoint.
  const [webhookEndpointId, unusedEndpointId] = [newId("webhookEndpoint"), newId("webhookEndpoint")];
  const endpoint = { organizationId, url: CANARY, eventTypes: [], publicKey: CANARY, sealed: CANARY, sequence: 0 };
  for (const id of [webhookEndpointId, unusedEndpointId])
    await database()
      .insert(webhookEndpoints)
      .values({ ...endpoint, webhookEndpointId: id, status: "enabled" });
  const cardConnectionId = await storedCard(organizationId, authorizationId, CANARY);
  const checkoutIntentId = await waitingCheckout(organizationId, agent.serviceAccountId, CANARY);
  const approvalId = await approvedRow(organizationId, checkoutIntentId, authorizationId);
  const { userId: memberId } = await createPerson(organizationId, "viewer");
  const invitationId = newId("invitation");
  const expiresAt = new Date(Date.now() + 600_000);
  await database()
    .insert(invitation)
    .values({ id: invitationId, organizationId, email: "c@example.com", expiresAt, inviterId: memberId });
  // The test removes the first client.
  const clientId = await registerClient(person.credential);
  const { connectionId } = await connected(person.credential, await registerClient(person.credential));
  const ids = {
    clientId,
    connectionId,
    memberId,
    invitationId,
    passkeyId,
    sessionId,
    deviceId,
    webhookEndpointId,
    unusedEndpointId,
    cardConnectionId,
    checkoutIntentId,
    approvalId,
    organizationId,
    mandateId,
    authorizationId,
    executionId,
    sellerId: seller.sellerId,
    resourceId: CANARY,
  };
  return { ids: { ...ids, serviceAccountId: agent.serviceAccountId }, owner: person.credential };
}
type Victim = Awaited<ReturnType<typeof createVictim>>["ids"];

/** `id` is one id, or all ids of the path in order. */
type Attempt = {
  readonly id?: string | readonly string[];
  readonly query?: string;
  readonly body?: Readonly<Record<string, unknown>>;
};

const withCheckout = (victim: Victim): Attempt => ({ id: victim.checkoutIntentId });
const withEndpoint = (victim: Victim): Attempt => ({ id: victim.webhookEndpointId });
const withMandate = (victim: Victim): Attempt => ({ id: victim.mandateId });

/** For each operation, the request with which it would reach an object of the other organization. */
const attempts: Readonly<Record<string, (victim: Victim) => Attempt>> = {
  authorizePayment: ({ mandateId }) => ({ body: { mandateId } }),
  executePayment: ({ authorizationId }) => ({ body: { authorizationId } }),
  signSamplePayment: ({ authorizationId }) => ({ body: { authorizationId } }),
  getApprovalReceipt: ({ approvalId }) => ({ id: approvalId }),
  getExecution: ({ executionId }) => ({ id: executionId }),
  getExecutionReceipt: ({ executionId }) => ({ id: executionId }),
  recordPayment: ({ authorizationId: id }) => ({ id, body: { idempotencyKey: id, outcome: "paid", amount: "1", asset: "USD" } }),
  allowPaymentOnce: ({ authorizationId }) => ({ id: authorizationId }),
  getPayment: ({ authorizationId }) => ({ id: authorizationId }),
  getPaymentReceipt: ({ authorizationId }) => ({ id: authorizationId }),
  getCheckout: withCheckout,
  approveCheckout: withCheckout,
  rejectCheckout: withCheckout,
  takeBackApproval: withCheckout,
  extendCheckout: withCheckout,
  cancelCheckout: withCheckout,
  continueCheckout: withCheckout,
  placeOrder: ({ mandateId }) => ({ body: { mandateId } }),
  stepUp: ({ checkoutIntentId }) => ({ body: { checkoutIntentId } }),
  challengePasskey: ({ checkoutIntentId }) => ({ body: { checkoutIntentId } }),
  renamePasskey: ({ passkeyId }) => ({ id: passkeyId }),
  removePasskey: ({ passkeyId }) => ({ id: passkeyId }),
  endSession: ({ sessionId }) => ({ id: sessionId }),
  removeDevice: ({ deviceId }) => ({ id: deviceId }),
  updateWebhookEndpoint: withEndpoint,
  rotateWebhookSecret: withEndpoint,
  testWebhookEndpoint: withEndpoint,
  listWebhookDeliveries: withEndpoint,
  resendWebhookDeliveries: withEndpoint,
  deleteWebhookEndpoint: ({ unusedEndpointId }) => ({ id: unusedEndpointId }),
  getMandate: withMandate,
  getRemaining: withMandate,
  setMandateAlerts: (victim) => ({ ...withMandate(victim), body: { thresholds: [50] } }),
  updateMandate: withMandate,
  activateMandate: withMandate,
  resumeMandate: withMandate,
  suspendMandate: withMandate,
  revokeMandate: withMandate,
  simulateMandate: withMandate,
  listMandateLedger: withMandate,
  prepareRegistration: ({ mandateId }) => ({ id: mandateId, query: `?payeeAddress=0x${"5a".repeat(20)}` }),
  upsertPaidResource: ({ sellerId, resourceId }) => ({ id: resourceId, body: { sellerId } }),
  getResource: ({ resourceId, sellerId }) => ({ id: resourceId, query: `?sellerId=${sellerId}` }),
  probeResource: ({ resourceId, sellerId }) => ({ id: resourceId, body: { sellerId } }),
  archiveResource: ({ resourceId, sellerId }) => ({ id: resourceId, body: { sellerId } }),
  verifySellerDomain: ({ sellerId }) => ({ id: sellerId }),
  challengePayTo: ({ sellerId }) => ({ body: { sellerId } }),
  checkReadiness: ({ mandateId }) => ({ body: { mandateId, storefrontUrl: "https://127.0.0.1" } }),
  quoteFee: ({ organizationId }) => ({ body: { sellerId: undefined, sellerOrganizationId: organizationId } }),
  createServiceAccount: ({ organizationId }) => ({ body: { organizationId } }),
  rotateServiceAccountKey: ({ serviceAccountId }) => ({ id: serviceAccountId }),
  revokeServiceAccount: ({ serviceAccountId }) => ({ id: serviceAccountId }),
  pauseServiceAccount: ({ serviceAccountId }) => ({ id: serviceAccountId }),
  resumeServiceAccount: ({ serviceAccountId }) => ({ id: serviceAccountId }),
  removeAgentClient: ({ clientId }) => ({ id: clientId }),
  updateCardConnection: ({ cardConnectionId }) => ({ id: cardConnectionId }),
  closeCardPayment: ({ authorizationId }) => ({ id: authorizationId }),
  setCard: ({ cardConnectionId }) => ({ id: [cardConnectionId, "ic_1"] }),
  endConnection: ({ connectionId }) => ({ id: connectionId }),
  activateOrganization: ({ organizationId }) => ({ id: organizationId }),
  inviteMember: ({ organizationId }) => ({ id: organizationId }),
  cancelInvitation: ({ organizationId, invitationId }) => ({ id: [organizationId, invitationId] }),
  updateMember: ({ organizationId, memberId }) => ({ id: [organizationId, memberId] }),
  removeMember: ({ organizationId, memberId }) => ({ id: [organizationId, memberId] }),
  setStepUpThreshold: ({ organizationId }) => ({ id: organizationId }),
  updateOrganization: ({ organizationId }) => ({ id: organizationId }),
};
/** Every organization may read every seller (getSeller). The other two have tests of their own. */
const openToAll = new Set(["getSeller", "registerMandate", "provePayTo", "receiveCardEvent"]);

/** The operations that do not answer 404 for an object of another organization. */
const answered: Readonly<Record<string, { readonly status: number; readonly code?: string }>> = {
  checkReadiness: { status: 200 },
};

const namesSomething = ({ path, example }: Operation): boolean =>
  path.includes("{") || Object.keys(example.body ?? {}).some((field) => field.endsWith("Id"));

const bodyOf = ({ body, example }: Operation, change: Readonly<Record<string, unknown>>): unknown => {
  if (!body) return {};
  const base = structuredClone(example.body ?? {}) as Record<string, unknown>;
  const intent = base["intent"] as Record<string, unknown> | undefined;
  if (intent) intent["expiresAt"] = new Date(Date.now() + 60_000).toISOString();
  return { ...base, ...change };
};

async function call(operation: Operation, as: Credential, { id = "mdt_unknown", query = "", body = {} }: Attempt = {}) {
  const { method, path } = operation;
  const writes = method !== "GET";
  const ids = [id].flat().values();
  const url = `${env().BASE_URL}${path.replace(/\{[^}]+\}/g, () => ids.next().value ?? "mdt_unknown")}${query}`;
  const headers = { ...as, ...(writes && { "content-type": "application/json" }) };
  const response = await dispatch(
    new Request(url, { method, headers, ...(writes && { body: JSON.stringify(bodyOf(operation, body)) }) }),
  );
  const text = await response.text();
  return { status: response.status, code: (JSON.parse(text) as { code?: string }).code, text };
}

const kindOf = ({ access }: Operation) => (typeof access === "string" ? access : (Object.keys(access)[0] ?? ""));
const byId = (list: readonly Operation[]) => list.map((one) => [one.id, one] as const);

describe("organizations cannot reach objects of others", () => {
  let victim: Victim;
  let owner: Credential;
  let intruder: { person: Credential; key: Credential; organizationId: string };
  beforeAll(async () => {
    ({ ids: victim, owner } = await createVictim());
    const organizationId = await createOrganization("Intruder");
    intruder = {
      organizationId,
      person: (await createPerson(organizationId)).credential,
      key: (await createAgent(organizationId, Capability.options)).credential,
    };
  });

  test("every operation whose path or body names an object has an entry in `attempts`", () => {
    const named = operations.filter((one) => namesSomething(one) && kindOf(one) !== "platformCapability").map(({ id }) => id);
    expect(named.filter((id) => !Object.hasOwn(attempts, id) && !openToAll.has(id))).toEqual([]);
  });

  const reaching = byId(operations.filter(({ id }) => Object.hasOwn(attempts, id)));
  test.each(reaching)(
    "%s answers the same for an object of another organization and for an unknown one",
    async (id, operation) => {
      const as = kindOf(operation) === "capability" ? intruder.key : intruder.person;
      const before = await database().select().from(auditHeads).where(eq(auditHeads.chain, victim.organizationId));
      const foreign = await call(operation, as, attempts[id]?.(victim));
      const unknown = Object.fromEntries(Object.keys(victim).map((name) => [name, `${name}-unknown`])) as Victim;
      const missing = await call(operation, as, attempts[id]?.(unknown));
      // The replies repeat the requested ids, and each has its own request id and time, so replace these before the comparison.
      const names = [...Object.values(victim), ...Object.values(unknown)].toSorted((a, b) => b.length - a.length);
      const its = /req_[0-9a-z]+|20\d\d-[-0-9T:.]+Z|(?<=The service is not ready: )[a-z, ]+/g;
      const words = (text: string) => names.reduce((said, name) => said.replaceAll(name, "id"), text.replace(its, "its own"));
      expect(foreign.text).not.toContain(CANARY);
      expect(foreign).toMatchObject(answered[id] ?? { status: 404, code: "not_found" });
      expect([missing.status, words(missing.text)]).toEqual([foreign.status, words(foreign.text)]);
      expect(await database().select().from(auditHeads).where(eq(auditHeads.chain, victim.organizationId))).toEqual(before);
    },
  );

  test.each(reaching)("%s finds the object for its owner, which shows that it exists", async (id, operation) => {
    expect((await call(operation, owner, attempts[id]?.(victim))).status).not.toBe(404);
  });

  const lists = byId(operations.filter(({ method, path }) => method === "GET" && !path.includes("{")));
  test.each(lists)("%s shows nothing of another organization", async (_id, operation) => {
    const queries = [""];
    if (operation.id === "listPayments") queries.push(`?mandateId=${victim.mandateId}`);
    for (const query of queries) {
      const { text } = await call(operation, kindOf(operation) === "capability" ? intruder.key : intruder.person, { query });
      for (const secret of [CANARY, ...Object.values(victim).filter((value) => !query.includes(value))])
        expect(text).not.toContain(secret);
    }
  });
});
