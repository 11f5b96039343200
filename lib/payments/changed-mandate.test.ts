import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startSeller } from "../../examples/seller.ts";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/mandates/contract.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { executions } from "#lib/holds/tables.ts";
import { sellers } from "#lib/sellers/tables.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { holdsOf } from "#test/asking.ts";
import { read } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileFacilitator, type HostileFacilitator } from "#test/hostile-facilitator.ts";
import { CHAIN, eventsOf, policy } from "#test/mandates.ts";
import {
  authorized,
  execute,
  expectedOf,
  newWallet,
  paymentScene,
  readPayment,
  signed,
  signedFor,
  useSettlement,
  type PaymentScene,
} from "#test/payments.ts";
import { brokenInvariants } from "#test/proof.ts";
import { randomAddress } from "#test/sellers.ts";
import { listenService, ourFacilitator, stockFacilitator, type ListeningServer } from "#test/shop.ts";
import { createAgent, send } from "#test/tenant.ts";

let hostile: HostileFacilitator;
beforeAll(async () => {
  hostile = await openHostileFacilitator(() => stockFacilitator(chain()));
});
useDatabase();
const chain = useSettlement({ facilitators: () => [{ url: hostile.url }], facilitatorTimeoutMs: 2_500 });
afterAll(() => hostile.close());
const wallet = newWallet();
const open: Pick<ListeningServer, "close">[] = [];
beforeAll(() => chain().mint(wallet.address, 1_000_000_000n));
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  expect(await brokenInvariants()).toEqual([]);
});

const change = (scene: Pick<PaymentScene, "person" | "mandateId">, body: Record<string, unknown>) =>
  send(contract.updateMandate, updateMandate, { as: scene.person.credential, id: scene.mandateId, body });

const withRules = (rules: Record<string, unknown>) => ({ policy: { ...policy, ...rules } });

/** Makes the reconciler check the execution now. */
async function lookAgain(authorizationId: string): Promise<string | undefined> {
  const own = eq(executions.authorizationId, authorizationId);
  await database()
    .update(executions)
    .set({ nextCheckAt: new Date(0) })
    .where(own);
  await reconcile();
  const [row] = await database().select().from(executions).where(own);
  return row?.settlementStatus;
}

async function pay(scene: PaymentScene, authorizationId: string) {
  const { status, data, problem } = await execute(scene, {
    authorizationId,
    paymentCredential: await signed(wallet, expectedOf(scene)),
  });
  return status === 200 ? data.settlementStatus : `${status} ${problem.code} ${problem.detail}`;
}

describe("a payment that a new version of the mandate forbids", () => {
  const rows: readonly (readonly [string, (scene: PaymentScene) => Record<string, unknown>, string])[] = [
    [
      "a payee that is denied",
      ({ seller }) => withRules({ payTo: { deny: [seller.payTo] } }),
      "forbids payments to this address",
    ],
    ["a payee that is not allowed", () => withRules({ payTo: { allow: [randomAddress()] } }), "not among those"],
    [
      "a seller that is denied",
      ({ seller }) => withRules({ sellers: { deny: [seller.sellerId] } }),
      "forbids payments to this seller",
    ],
    ["a seller that is not allowed", () => withRules({ sellers: { allow: ["sel_other"] } }), "seller is not among those"],
    ["a domain that is denied", ({ seller }) => withRules({ domains: { deny: [seller.domain] } }), "forbids payments to shop-"],
    ["a domain that is not allowed", () => withRules({ domains: { allow: ["other.example.com"] } }), "not among the domains"],
    ["a domain that nobody proved", ({ seller }) => withRules({ domains: { allow: [seller.domain] } }), "has not proven"],
    ["a seller that is not verified", () => withRules({ requireVerifiedSeller: true }), "asks for a verified seller"],
    ["a resource that is not allowed", () => withRules({ resources: [] }), "resource is not among those"],
    ["a mandate that has not begun", () => withRules({ validFrom: new Date(Date.now() + 60_000).toISOString() }), "valid from"],
  ];

  test.each(rows)("is not executed any more: %s", async (_, rules, words) => {
    const scene = await paymentScene();
    const { authorizationId } = await authorized(scene);
    expect((await change(scene, rules(scene))).status).toBe(200);
    const told = await pay(scene, authorizationId);
    expect(told).toMatch(/^403 policy_denied The mandate was changed/);
    expect(told).toContain(words);
    expect((await readPayment(scene, authorizationId)).data.executions).toEqual([]);
    // Once the policy allows the authorization again, it can be executed.
    expect((await change(scene, { policy })).status).toBe(200);
    expect(await pay(scene, authorizationId)).toBe("pending");
  });

  test("is not executed any more: the mandate no longer names the agent", async () => {
    const scene = await paymentScene();
    const { authorizationId } = await authorized(scene);
    const other = await createAgent(scene.organizationId, ["payments:authorize"]);
    await change(scene, { agents: [other.serviceAccountId] });
    expect(await pay(scene, authorizationId)).toMatch(/^403 policy_denied/);
  });

  test("is not executed any more: an unregistered seller", async () => {
    const scene = await paymentScene({ mandate: { policy: { ...policy, sellers: { unregistered: "allow" } } } });
    const payTo = randomAddress();
    const extra = { name: "USDC", version: "2" };
    const offer = { scheme: "exact", network: CHAIN, amount: "250000", payTo, maxTimeoutSeconds: 60, extra };
    const accepts = [{ ...offer, asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" }];
    const challenge = { x402Version: 2, resource: { url: "https://api.example.net/report" }, accepts };
    const intent = { seller: {}, resource: undefined, chain: CHAIN, payTo, challenge };
    const { authorizationId } = await authorized(scene, intent);
    const stranger = { ...scene, seller: { ...scene.seller, payTo } };
    for (const rules of [{}, { sellers: { unregistered: "allow" }, domains: { deny: ["example.net"] } }]) {
      await change(scene, withRules(rules));
      expect(await pay(stranger, authorizationId)).toMatch(/^403 policy_denied/);
    }
  });

  test("is not affected by changed limits, and nothing is reported if nothing is forbidden", async () => {
    const scene = await paymentScene();
    const { authorizationId } = await authorized(scene);
    const limits = { perPayment: "0.01", total: "0.01" };
    const { status, data } = await change(scene, { name: "Smaller", policy: { ...policy, limits } });
    expect([status, "openRefused" in data]).toEqual([200, false]);
    expect(await pay(scene, authorizationId)).toBe("pending");
  });

  test("is checked with the proofs that its seller has given until now", async () => {
    const scene = await paymentScene();
    const { authorizationId } = await authorized(scene);
    await change(scene, withRules({ domains: { allow: [scene.seller.domain] } }));
    expect(await pay(scene, authorizationId)).toMatch(/^403 policy_denied/);
    await database().update(sellers).set({ verified: true }).where(eq(sellers.sellerId, scene.seller.sellerId));
    expect(await pay(scene, authorizationId)).toBe("pending");
  });
});

describe("saving a version that forbids open payments", () => {
  const deny = ({ seller }: PaymentScene) => withRules({ payTo: { deny: [seller.payTo] } });

  test("lists them, and keeps what they have reserved unless the caller asks to cancel them", async () => {
    const scene = await paymentScene();
    const held = await authorized(scene);
    const submitted = await authorized(scene);
    expect(await pay(scene, submitted.authorizationId)).toBe("pending");
    const { data } = await change(scene, deny(scene));
    expect(data.openRefused).toMatchObject({ more: false, canceled: 0 });
    const shared = { amount: "0.25", asset: "USDC", denialCode: "payee_not_allowed", domain: scene.seller.domain };
    expect(data.openRefused?.items).toEqual([
      { ...shared, authorizationId: submitted.authorizationId, state: "submitted", message: expect.any(String) as string },
      { ...shared, authorizationId: held.authorizationId, state: "held", message: expect.any(String) as string },
    ]);
    expect((await holdsOf(scene.mandateId)).map(({ status }) => status).toSorted()).toEqual(["held", "submitted"]);
  });

  test("cancels them if the caller asks for it, at once or later, and releases their budget", async () => {
    const scene = await paymentScene();
    const [now, later] = [await authorized(scene), await authorized(scene)];
    const first = await change(scene, { ...deny(scene), cancelOpen: true });
    expect(first.data).toMatchObject({
      version: 2,
      openRefused: { canceled: 2, items: [{ state: "canceled" }, { state: "canceled" }] },
    });
    expect(first.data.usage).toMatchObject([{ reserved: "0", available: "5" }]);
    expect((await eventsOf(scene.mandateId)).map(({ type }) => type).slice(-2)).toEqual([
      "mandate.versioned",
      "reservation.released",
    ]);
    for (const { authorizationId } of [now, later])
      expect(await pay(scene, authorizationId)).toMatch(/^409 authorization_consumed/);

    await change(scene, { policy });
    const third = await authorized(scene);
    expect((await change(scene, deny(scene))).data.openRefused).toMatchObject({ canceled: 0 });
    const { data } = await change(scene, { cancelOpen: true });
    expect(data).toMatchObject({ version: 4, openRefused: { canceled: 1, items: [{ authorizationId: third.authorizationId }] } });
    expect((await change(scene, { cancelOpen: true })).data.openRefused).toBeUndefined();
    expect((await change(scene, { cancelOpen: false })).problem.code).toBe("invalid_request");
  });

  test("cancels the request for approval too", async () => {
    const scene = await paymentScene({ mandate: { policy: { ...policy, approval: { mode: "always" } } } });
    const { policyDecision } = await authorized(scene);
    const checkoutIntentId =
      policyDecision.reasons
        .find(({ href }) => href)
        ?.href?.split("/")
        .at(-1) ?? "";
    const { data } = await change(scene, { ...deny(scene), cancelOpen: true });
    expect(data.openRefused).toMatchObject({ canceled: 1 });
    const asked = await read(checkoutIntentId, scene.person.credential);
    expect(asked.data.intent.status).toBe("canceled");
  });
});

describe("an execution that its mandate forbade later", () => {
  async function pendingAtOurShop() {
    const scene = await paymentScene();
    const service = await listenService();
    const account = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
    const facilitator = ourFacilitator(service, account.credential["authorization"] ?? "");
    const shop = await startSeller({ facilitator, payTo: scene.seller.payTo });
    open.push(service, shop);
    const { authorizationId } = await authorized(scene);
    const unpaid = await fetch(`${shop.url}/report`);
    const paymentCredential = await signedFor(wallet, (name) => unpaid.headers.get(name));
    const executed = await execute(scene, { authorizationId, paymentCredential });
    expect(executed.data.settlementStatus).toBe("pending");
    return { scene, shop, authorizationId, headers: executed.data.credentialHeaders ?? {} };
  }

  test("is not settled by this service's facilitator", async () => {
    const { scene, shop, headers } = await pendingAtOurShop();
    await change(scene, withRules({ payTo: { deny: [scene.seller.payTo] } }));
    expect((await fetch(`${shop.url}/report`, { headers })).status).toBe(402);
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(0n);
    // This service's facilitator settles the payment once the buyer's policy allows it again.
    await change(scene, { policy });
    expect((await fetch(`${shop.url}/report`, { headers })).status).toBe(200);
  });

  test("is not settled for an agent or from a wallet that the mandate no longer names", async () => {
    const one = await pendingAtOurShop();
    const other = await createAgent(one.scene.organizationId, []);
    await change(one.scene, { agents: [other.serviceAccountId] });
    expect((await fetch(`${one.shop.url}/report`, { headers: one.headers })).status).toBe(402);
    const two = await pendingAtOurShop();
    await change(two.scene, { wallet: { chain: CHAIN, address: randomAddress() } });
    expect((await fetch(`${two.shop.url}/report`, { headers: two.headers })).status).toBe(402);
  });

  test("is not submitted again while its outcome is unknown", async () => {
    hostile.fault = "errorBeforeSettling";
    const scene = await paymentScene({ settlementMode: "facilitatorSettled", facilitatorUrl: hostile.url });
    const { authorizationId } = await authorized(scene);
    expect(await pay(scene, authorizationId)).toBe("unknown");
    await change(scene, withRules({ sellers: { deny: [scene.seller.sellerId] } }));
    hostile.fault = "clean";
    expect(await lookAgain(authorizationId)).toBe("unknown");
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(0n);
    await change(scene, { policy });
    expect(await lookAgain(authorizationId)).toBe("settled");
  });
});
