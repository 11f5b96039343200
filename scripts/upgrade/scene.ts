import { setTimeout as pause } from "node:timers/promises";
import postgres from "postgres";
import { setMandateAlerts } from "#lib/alerts/contract.ts";
import { assignSubscription, quoteFee, saveFeeSchedule } from "#lib/billing/contract.ts";
import { call } from "#lib/http/client.ts";
import type { Operation, RequestOf } from "#lib/http/operation.ts";
import { createServiceAccount, pauseServiceAccount, rotateServiceAccountKey } from "#lib/identity/keys/contract.ts";
import { inviteMember, updateOrganization } from "#lib/identity/members/contract.ts";
import { createAgentClient } from "#lib/identity/oauth/contract.ts";
import { createMandate, suspendMandate, updateMandate } from "#lib/mandates/contract.ts";
import { setNotices } from "#lib/notices/contract.ts";
import { emergencyRevoke } from "#lib/platform/contract.ts";
import { addDevice } from "#lib/push/contract.ts";
import { archiveResource, upsertPaidResource, verifySeller } from "#lib/sellers/contract.ts";
import { challengePayTo, provePayTo } from "#lib/sellers/pay-to/contract.ts";
import { createWebhookEndpoint } from "#lib/webhooks/contract.ts";
import { payWithoutKey } from "../demo/keyless.ts";
import { holdLimits, payThroughUs } from "../demo/limits.ts";
import { shop } from "../demo/order.ts";
import { payOnce } from "../demo/payment.ts";
import type { Person } from "../demo/person.ts";
import { variablesOf } from "../demo/service.ts";
import { setUp, type Parties } from "../demo/setup.ts";
import { setStage, type Stage } from "../demo/stage.ts";
import { silence } from "../demo/timeline.ts";
import { proving } from "../proving.ts";
import type { Installation, Order } from "./side-by-side.ts";

/** The keys of a browser that asks for messages. */
const KEYS = {
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
};

/** Sends a request as a person who proves their identity if they are asked. */
const as = (person: Person) =>
  function ask<const O extends Operation>(operation: O, request: RequestOf<O>) {
    return call(operation, request, proving(person.password, person.options));
  };

/** The commands that the demo does not send and that make rows of other kinds. */
async function beyondTheDemo(
  stage: Stage,
  { buyer, sellerOwner, agentId, mandateId, sellerId }: Parties,
  suspended: string,
): Promise<void> {
  const [buys, sells] = [as(buyer), as(sellerOwner)];
  const { organizationId } = buyer;
  const url = `http://${stage.stranger}/hooks`;
  await buys(createWebhookEndpoint, { body: { url, eventTypes: ["payment.*", "mandate.*", "serviceAccount.*"] } });
  await buys(setNotices, { body: { mail: true, quietHours: { from: "22:00", to: "07:00", timezone: "Europe/Berlin" } } });
  await buys(addDevice, { body: { endpoint: "https://push.example.com/send/abc", keys: KEYS } });
  await buys(setMandateAlerts, { id: mandateId, body: { thresholds: [1, 90] } });
  await buys(inviteMember, { organizationId, body: { email: "grace@example.com", role: "approver" } });
  await buys(updateOrganization, { organizationId, body: { timezone: "Europe/Vienna" } });
  await buys(createAgentClient, { body: { name: "Assistant", redirectUris: ["http://localhost:8080/callback"] } });
  const account = await buys(createServiceAccount, { body: { name: "Other agent", organizationId } });
  await buys(rotateServiceAccountKey, { id: account.serviceAccountId, body: { gracePeriodSeconds: 3_600 } });
  await buys(pauseServiceAccount, { id: account.serviceAccountId, body: {} });
  const limits = { perPayment: "1", total: "5" };
  const policy = { assets: [{ asset: "USDC", chain: "eip155:84532" }], limits };
  const draft = await buys(createMandate, { body: { name: "Draft", policy, agents: [agentId] } });
  await buys(updateMandate, { id: draft.mandateId, body: { name: "Second draft" } });
  await buys(suspendMandate, { id: suspended, body: { reason: "A pause." } });
  const { challengeId, text: message } = await sells(challengePayTo, { body: { sellerId, payTo: stage.seller.address } });
  await sells(provePayTo, { body: { method: "signature", challengeId, signature: await stage.seller.signMessage({ message }) } });
  const pricing = { type: "fixed", amount: "0.25", asset: "USDC" } as const;
  const sold = {
    sellerId,
    method: "GET" as const,
    pathTemplate: "/old",
    pricing,
    acceptedPaymentChallengeTypes: ["x402" as const],
  };
  await sells(upsertPaidResource, { id: "old", body: { ...sold, paymentConfig: { payTo: stage.seller.address } } });
  await sells(archiveResource, { id: "old", body: { sellerId } });
  await buys(quoteFee, { body: { amount: "0.25", asset: "USDC", settlementMode: "offchainAuthorized", sellerId } });
}

/** The commands of an administrator. */
async function administer({ buyer, sellerOwner, sellerId }: Parties, revoked: string): Promise<void> {
  const administers = as(sellerOwner);
  await administers(verifySeller, { id: sellerId, body: { verified: true, reason: "It is known." } });
  const plan = {
    name: "Plan",
    planTier: "developer",
    settlementMode: "offchainAuthorized",
    asset: "USDC",
    percentageBps: 100,
  } as const;
  await administers(saveFeeSchedule, { body: { ...plan, maximumFeeAmount: "1" } });
  const { organizationId } = buyer;
  await administers(assignSubscription, { body: { organizationId, tier: "developer", status: "trialing" } });
  await administers(emergencyRevoke, { body: { reason: "A leaked key.", mandateId: revoked } });
  await administers(emergencyRevoke, { body: { reason: "Nothing is delivered.", sellerId } });
}

/** Drives the old release, whose processes `on` has, through a scene that makes rows of every kind. */
export async function playScene(on: Installation, { old, closing, databaseUrl }: Order): Promise<Parties> {
  silence();
  const stage = await setStage({
    closing,
    serve: async (options) => {
      // Each process has a port of its own.
      on.environment = Object.fromEntries(
        Object.entries(variablesOf(options)).filter((one): one is [string, string] => one[0] !== "PORT" && one[1] !== undefined),
      );
      const { url } = await on.start(old, { pages: true });
      while ((await fetch(`${url}/api/v1/health/pages`)).status !== 200) await pause(200);
      return { url: on.balancer.url, logFile: "", ended: new Promise(() => {}) };
    },
  });
  on.balancer.recorded = [];
  const parties = await setUp(stage);
  const agent = { serviceUrl: stage.service.url, apiKey: parties.apiKey, mandateId: parties.mandateId, wallet: stage.agent };
  const paid = await payOnce(stage, parties, agent);
  await payThroughUs(stage, parties, agent);
  await shop(stage, parties);
  const keyless = await payWithoutKey(stage, parties);
  await beyondTheDemo(stage, parties, keyless.mandateId);
  await holdLimits(stage, parties, agent, paid);
  const sql = postgres(databaseUrl, { max: 1 });
  await sql`UPDATE "user" SET platform_roles = '{user,admin}' WHERE email = ${parties.sellerOwner.email}`;
  await sql.end();
  await administer(parties, keyless.mandateId);
  return parties;
}
