import { sql } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { GATE } from "#lib/command/gate-store.ts";
import { database } from "#lib/db/client.ts";
import * as mandatesContract from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { ask, authorizationsOf, holdsOf, newIntent, outcomes, post } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, createBuyer, policy, type Buyer } from "#test/mandates.ts";
import { createAgent, send } from "#test/tenant.ts";

const databaseOf = useDatabase();

let buyer: Buyer;
beforeAll(async () => {
  buyer = await createBuyer();
});
afterEach(async () => expect(await brokenSums()).toEqual([]));

const newMandate = () =>
  activeMandate(buyer.person.credential, { policy: { ...policy, limits: { perPayment: "1", total: "1000" } } });

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

describe("authorizePayment, once", () => {
  test("a repeat gets the stored bytes and is marked as a repeat, also after the mandate was revoked", async () => {
    const own = await newMandate();
    const intent = newIntent(buyer);
    const first = await post({ mandateId: own, intent }, buyer.agent.credential);
    await send(mandatesContract.revokeMandate, revokeMandate, { as: buyer.person.credential, id: own });
    const again = await post({ intent, mandateId: own }, buyer.agent.credential);
    expect([again.status, again.replayed, again.text]).toEqual([200, true, first.text]);
    expect(await authorizationsOf(own)).toHaveLength(1);
  });

  test("a decision of a newer release is 503, and other requests of the same batch are decided", async () => {
    const own = await newMandate();
    const intent = newIntent(buyer);
    const first = await post({ mandateId: own, intent }, buyer.agent.credential);
    await database().transaction(async (tx) => {
      await tx.execute(sql`SET LOCAL session_replication_role = replica`);
      await tx.execute(sql`UPDATE authorizations SET findings = '[1,1,"USDC","0.5",[9999]]'
        WHERE authorization_id = ${first.data.authorizationId}`);
    });
    const [again, ...others] = await Promise.all([
      post({ mandateId: own, intent }, buyer.agent.credential),
      ask(buyer, own),
      ask(buyer, own),
    ]);
    expect([again.status, again.problem.code, again.problem.detail]).toEqual([
      503,
      "service_unavailable",
      "A newer release of the service wrote this decision. Ask again with the same idempotency key.",
    ]);
    expect(others.map(({ status }) => status)).toEqual([200, 200]);
  });

  test("a repeat with a new API key is decided although the first request's key was revoked while it waited", async () => {
    const own = await newMandate();
    const agent = await createAgent(buyer.organizationId, ["payments:authorize"]);
    const body = { mandateId: own, intent: newIntent(buyer) };
    const revoking = await hold(databaseOf().url, `SELECT pg_advisory_xact_lock(${GATE}::bigint)`);
    const first = post(body, agent.credential);
    await revoking.blocks();
    const again = post(body, buyer.agent.credential);
    await revoking.sql`UPDATE api_keys SET revoked_at = now() WHERE service_account_id = ${agent.serviceAccountId}`;
    await revoking.sql.unsafe("COMMIT");
    expect((await first).problem.code).toBe("api_key_invalid");
    expect((await again).data.policyDecision.outcome).toBe("allow");
  });

  test("422 for the same key with another body or another mandate, at once or later", async () => {
    const [one, two] = [await newMandate(), await newMandate()];
    const intent = newIntent(buyer);
    const [first, inFlight] = await Promise.all([
      post({ mandateId: one, intent }, buyer.agent.credential),
      post({ mandateId: two, intent }, buyer.agent.credential),
    ]);
    expect(outcomes([first, inFlight])).toEqual({ allow: 1, idempotency_key_reused: 1 });
    const later = await post({ mandateId: one, intent: { ...intent, nonce: "other" } }, buyer.agent.credential);
    expect([later.status, later.problem.code]).toEqual([422, "idempotency_key_reused"]);
    expect([...(await authorizationsOf(one)), ...(await authorizationsOf(two))]).toHaveLength(1);
  });

  test("a repeat may have another expiresAt and createdAt: the first ones stay, at once and later", async () => {
    const own = await newMandate();
    const intent = newIntent(buyer, { expiresAt: inMinutes(10) });
    const anew = { ...intent, expiresAt: inMinutes(14), createdAt: inMinutes(-1) };
    const together = await Promise.all(
      [intent, anew].map((one) => post({ mandateId: own, intent: one }, buyer.agent.credential)),
    );
    const later = { ...intent, expiresAt: inMinutes(20), createdAt: inMinutes(0) };
    const again = await post({ mandateId: own, intent: later }, buyer.agent.credential);
    expect([...together, again].map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(again.replayed).toBe(true);
    expect(new Set([...together, again].map(({ text }) => text)).size).toBe(1);
    expect(await holdsOf(own)).toHaveLength(1);
    const changed = await post({ mandateId: own, intent: { ...anew, amount: "0.2" } }, buyer.agent.credential);
    expect([changed.status, changed.problem.code]).toEqual([422, "idempotency_key_reused"]);
    expect(changed.problem.detail).not.toMatch(/use a new key/i);
  });

  test("20 parallel equal requests have one effect and one answer", async () => {
    const own = await newMandate();
    const body = { mandateId: own, intent: newIntent(buyer) };
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(body, buyer.agent.credential)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await authorizationsOf(own)).toHaveLength(1);
    expect(await holdsOf(own)).toHaveLength(1);
  });

  test("an intentId and a nonce can be used only once under a mandate, one after the other or at the same time", async () => {
    const own = await newMandate();
    const used = newIntent(buyer);
    expect(outcomes([await post({ mandateId: own, intent: used }, buyer.agent.credential)])).toEqual({ allow: 1 });
    expect((await ask(buyer, own, { intentId: used.intentId })).data.policyDecision.denialCode).toBe("intent_invalid");
    expect((await ask(buyer, own, { nonce: used.nonce })).data.policyDecision.denialCode).toBe("nonce_reused");
    const shared = { nonce: "shared-nonce" };
    expect(outcomes(await Promise.all(Array.from({ length: 12 }, () => ask(buyer, own, shared))))).toEqual({
      allow: 1,
      deny: 11,
    });
    expect(outcomes([await ask(buyer, await newMandate(), { nonce: used.nonce })])).toEqual({ allow: 1 });
  });

  test("an intent without intentId and nonce takes the idempotency key for both", async () => {
    const own = await newMandate();
    const { intentId: _, nonce: __, ...bare } = newIntent(buyer, { idempotencyKey: "one-id" });
    const { data } = await post({ mandateId: own, intent: bare }, buyer.agent.credential);
    expect([data.policyDecision.outcome, data.policyDecision.intentId]).toEqual(["allow", "one-id"]);
    expect((await authorizationsOf(own))[0]).toMatchObject({ intentId: "one-id", nonce: "one-id" });
    expect((await ask(buyer, own, { nonce: "one-id" })).data.policyDecision.denialCode).toBe("nonce_reused");
    const { idempotencyKey: ___, ...keyless } = bare;
    const byHeader = await post(
      { mandateId: own, intent: keyless },
      { ...buyer.agent.credential, "idempotency-key": "by-header" },
    );
    expect(byHeader.data.policyDecision.intentId).toBe("by-header");
    const headers = { ...buyer.agent.credential, "idempotency-key": "no/id" };
    const noId = await post({ mandateId: own, intent: { ...keyless, intentId: "named" } }, headers);
    expect([noId.status, noId.problem.errors?.map(({ pointer }) => pointer)]).toEqual([400, ["/intent/nonce"]]);
    expect((await authorizationsOf(own)).map(({ outcome }) => outcome).toSorted()).toEqual(["allow", "allow", "deny"]);
  });

  test("an intent that was denied has used up neither its id nor its nonce", async () => {
    const own = await newMandate();
    const name = { intentId: "tried", nonce: "tried" };
    expect(outcomes([await ask(buyer, own, { ...name, amount: "0.4" })])).toEqual({ deny: 1 });
    expect(outcomes([await ask(buyer, own, name)])).toEqual({ allow: 1 });
  });
});
