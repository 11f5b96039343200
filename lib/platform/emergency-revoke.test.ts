import { x402Client, x402HTTPClient } from "@x402/core/client";
import { describe, expect, test } from "vitest";
import { GATE } from "#lib/command/gate-store.ts";
import { pool } from "#lib/db/client.ts";
import { assetOf } from "#lib/chains/chains.ts";
import { lower } from "#lib/evm.ts";
import { paymentRequiredHeaders } from "#lib/x402/requirements.ts";
import { registerSeller } from "#lib/sellers/register-seller.ts";
import * as sellers from "#lib/sellers/contract.ts";
import { verifyChain } from "#lib/audit/verify-chain.ts";
import { viewTarget } from "#lib/pages/admin/view-targets.ts";
import { ask } from "#test/asking.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { activeMandate, assets, CHAIN, createBuyer, type Buyer } from "#test/mandates.ts";
import { createOfficial, REASON, stopNow } from "#test/platform.ts";
import { newSeller } from "#test/sellers.ts";
import { createOrganization, createPerson, send } from "#test/tenant.ts";

const databaseOf = useDatabase();

async function scene() {
  const buyer = await createBuyer();
  const owner = await createPerson(await createOrganization("Shop"));
  const shop = await newSeller(owner.credential, { price: "0.5" });
  const paying: Buyer = { ...buyer, resource: { ...buyer.resource, ...shop, payTo: shop.payTo } };
  const mandateId = await activeMandate(buyer.person.credential);
  return { buyer: paying, owner, shop, mandateId, agentId: buyer.agent.serviceAccountId };
}

describe("emergencyRevoke", () => {
  test("stops a mandate; the reply contains the event with its hash, and the buyer's audit chain the reason", async () => {
    const operator = await createOfficial("operator");
    const { buyer, mandateId } = await scene();
    const { status, data } = await stopNow(operator, { mandateId });
    expect([status, data.status]).toEqual([200, "accepted"]);
    expect(data.actionId).toMatch(/^act_/);
    expect(data.auditEvent).toMatchObject({
      type: "emergency.revoked",
      actorId: operator.userId,
      entityId: data.actionId,
      metadata: { reason: REASON, mandateId, hit: { mandate: { was: "active" } }, submittedExecutions: [] },
    });
    expect((await eventsAbout(data.actionId))[0]?.hash).toBe(data.auditEvent.hash);
    expect((await eventsAbout(mandateId)).at(-1)).toMatchObject({
      type: "mandate.revoked",
      chain: buyer.organizationId,
      metadata: { reason: REASON, emergency: data.actionId },
    });
    expect((await ask(buyer, mandateId)).data.policyDecision.denialCode).toBe("mandate_revoked");
    expect((await verifyChain("platform")).valid).toBe(true);
  });

  test("stops an agent with its keys, and a seller for every buyer", async () => {
    const operator = await createOfficial("operator");
    const { buyer, shop, mandateId, agentId } = await scene();
    expect((await stopNow(operator, { sellerId: shop.sellerId })).status).toBe(200);
    const denied = (await ask(buyer, mandateId)).data.policyDecision;
    expect([denied.outcome, denied.denialCode]).toEqual(["deny", "emergency_stop"]);
    const { data } = await stopNow(operator, { agentId });
    expect(data.auditEvent.metadata).toMatchObject({ hit: { agent: { was: "active", liveKeys: 1 } } });
    expect((await ask(buyer, mandateId)).problem.code).toBe("api_key_invalid");
  });

  test("stops all of several, or none", async () => {
    const operator = await createOfficial("operator");
    const { buyer, shop, mandateId, agentId } = await scene();
    const missing = await stopNow(operator, { mandateId, agentId, sellerId: "sel_none" });
    expect(missing.problem).toMatchObject({ code: "not_found", detail: "There is no such seller." });
    expect((await ask(buyer, mandateId)).data.policyDecision.outcome).toBe("allow");
    const { data } = await stopNow(operator, { mandateId, agentId, sellerId: shop.sellerId });
    expect(Object.keys(data.auditEvent.metadata["hit"] as object)).toEqual(["mandate", "agent", "seller"]);
  });

  test("a repeat writes a new event; with the same idempotency key it gets the same reply", async () => {
    const operator = await createOfficial("operator");
    const { mandateId } = await scene();
    const first = await stopNow(operator, { mandateId }, "stop-once");
    expect((await stopNow(operator, { mandateId }, "stop-once")).data).toEqual(first.data);
    const again = await stopNow(operator, { mandateId });
    expect(again.data.status).toBe("accepted");
    expect(again.data.actionId).not.toBe(first.data.actionId);
    expect(again.data.auditEvent.metadata).toMatchObject({ hit: { mandate: { was: "revoked" } } });
    expect((await eventsAbout(mandateId)).filter(({ type }) => type === "mandate.revoked")).toHaveLength(1);
  });

  test("the domain of a stopped seller cannot be paid as an unregistered seller, nor registered again by the same organization", async () => {
    const operator = await createOfficial("operator");
    const { buyer, owner, shop } = await scene();
    const open = { assets, limits: { perPayment: "1", total: "10" }, sellers: { unregistered: "allow" } };
    const mandateId = await activeMandate(buyer.person.credential, { policy: open });
    await stopNow(operator, { sellerId: shop.sellerId });
    const asset = assetOf(CHAIN, "USDC")!;
    const payment = { asset, amount: 500_000n, payTo: lower(shop.payTo), maxTimeoutSeconds: 60 };
    const headers = paymentRequiredHeaders(payment, `https://${shop.domain}/report`);
    const challenge = new x402HTTPClient(new x402Client()).getPaymentRequiredResponse((name) => headers[name]);
    const around = {
      seller: { domain: shop.domain },
      resource: undefined,
      chain: CHAIN,
      payTo: shop.payTo,
      challenge,
    };
    expect((await ask(buyer, mandateId, around)).data.policyDecision.denialCode).toBe("emergency_stop");
    const body = { name: "Shop again", domain: shop.domain };
    expect((await send(sellers.registerSeller, registerSeller, { as: owner.credential, body })).problem.code).toBe("conflict");
  });

  test("400 without a target, 400 without a reason, 404 for an unknown one", async () => {
    const operator = await createOfficial("operator");
    expect((await stopNow(operator, {})).problem.errors?.[0]?.pointer).toBe("/mandateId");
    expect((await stopNow(operator, { mandateId: "mdt_x", reason: "" })).problem.errors?.[0]?.pointer).toBe("/reason");
    for (const named of [{ mandateId: "mdt_x" }, { agentId: "sa_x" }, { sellerId: "sel_x" }])
      expect((await stopNow(operator, named)).status).toBe(404);
  });

  test("names 500 submitted executions and says that there are more; a repeat names the next ones", async () => {
    const operator = await createOfficial("operator");
    const { buyer, mandateId } = await scene();
    const { authorizationId } = (await ask(buyer, mandateId)).data;
    await pool()`
      INSERT INTO authorizations SELECT (jsonb_populate_record(a, jsonb_build_object('authorization_id', id, 'sequence', 1000 + n,
        'intent_id', id, 'nonce', id, 'slot', id, 'held', false, 'buckets', NULL))).*
      FROM authorizations a, (SELECT n, ${authorizationId} || n AS id FROM generate_series(1, 501) n) copies
      WHERE authorization_id = ${authorizationId}`;
    await pool()`
      INSERT INTO executions (execution_id, authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode, settlement_status, next_check_at)
      SELECT 'exe' || substr(authorization_id, 4), authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode, 'processing', now()
      FROM authorizations WHERE mandate_id = ${mandateId} AND authorization_id <> ${authorizationId}`;
    const { underWay, moreUnderWay } = await viewTarget("sandbox", { kind: "mandate", id: mandateId });
    expect([underWay.length, moreUnderWay]).toEqual([20, true]);
    const { metadata } = (await stopNow(operator, { mandateId })).data.auditEvent;
    const named = metadata["submittedExecutions"] as string[];
    expect([named.length, metadata["moreExecutions"]]).toEqual([500, true]);
    await pool()`UPDATE executions SET settlement_status = 'failed', resolved_at = now() WHERE execution_id = ANY(${named})`;
    const repeat = (await stopNow(operator, { mandateId })).data.auditEvent.metadata;
    expect(repeat["submittedExecutions"]).toHaveLength(1);
    expect(repeat).not.toHaveProperty("moreExecutions");
  });

  test("names the newest executions of all targets together, newest first", async () => {
    const operator = await createOfficial("operator");
    const { buyer, mandateId } = await scene();
    const other = await activeMandate(buyer.person.credential);
    const ids = await Promise.all([mandateId, other, mandateId].map(async (id) => (await ask(buyer, id)).data.authorizationId));
    for (const [at, authorizationId] of ids.entries())
      await pool()`
        INSERT INTO executions (execution_id, authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode, settlement_status, next_check_at)
        SELECT ${`exe_${at}`}, authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode, 'processing', now()
        FROM authorizations WHERE authorization_id = ${authorizationId}`;
    const agentId = buyer.agent.serviceAccountId;
    const { metadata } = (await stopNow(operator, { mandateId, agentId })).data.auditEvent;
    expect(metadata["submittedExecutions"]).toEqual(["exe_2", "exe_1", "exe_0"]);
  });

  test("429 after thirty requests in a minute, per person", async () => {
    const operator = await createOfficial("operator");
    for (let count = 0; count < 30; count += 1) expect((await stopNow(operator, { mandateId: "mdt_x" })).status).toBe(404);
    const { status, headers } = await stopNow(operator, { mandateId: "mdt_x" });
    expect([status, headers.get("retry-after")]).toEqual([429, "60"]);
    expect((await stopNow(await createOfficial("operator"), { mandateId: "mdt_x" })).status).toBe(404);
  });

  test("tries again by itself while a lock is not free in time", async () => {
    const operator = await createOfficial("operator");
    const { mandateId } = await scene();
    const gate = await hold(databaseOf().url, `SELECT pg_advisory_xact_lock_shared(${GATE})`);
    const stopping = stopNow(operator, { mandateId });
    const waiting = async () => (await gate.sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`).length;
    for (const count of [1, 0, 1]) await expect.poll(waiting, { timeout: 20_000, interval: 20 }).toBe(count);
    await gate.release();
    expect((await stopping).status).toBe(200);
  });

  test("does not wait for traffic that uses every connection", async () => {
    const operator = await createOfficial("operator");
    const { mandateId } = await scene();
    const holding = await hold(databaseOf().url, "LOCK TABLE plain_settlements");
    const busy = Promise.allSettled(Array.from({ length: 32 }, () => pool()`SELECT FROM plain_settlements`));
    await holding.blocks(16);
    expect((await stopNow(operator, { mandateId })).status).toBe(200);
    await holding.release();
    await busy;
  });
});
