import { decodePaymentRequiredHeader, decodePaymentSignatureHeader } from "@x402/core/http";
import { eq } from "drizzle-orm";
import { afterAll, describe, expect, test } from "vitest";
import usdc from "../../contracts/artifacts/TestUSDC.json" with { type: "json" };
import { usdcAddress } from "../../examples/chain.ts";
import { startSeller } from "../../examples/seller.ts";
import { countersign, NotServed } from "../../sdk/src/index.ts";
import { database } from "#lib/db/client.ts";
import { GATE } from "#lib/command/gate-store.ts";
import { apiKeys } from "#lib/identity/tables.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { nonceOfSlot } from "#lib/onchain/registry/refusals.ts";
import { registrationSlots } from "#lib/onchain/tables.ts";
import { executions } from "#lib/holds/tables.ts";
import { freeNonceSlots } from "#lib/settlement/free-nonce-slots.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { decodeCredential, type Credential } from "#lib/x402/credential.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { brokenInvariants } from "#test/proof.ts";
import { runPython } from "#test/python.ts";
import { revokeOnChain } from "#test/mandate-on-chain.ts";
import { authorized, execute, readPayment, useSettlement } from "#test/payments.ts";
import { registeredScene, useContracts, type RegisteredScene } from "#test/registered.ts";
import { listenService, ourFacilitator, stockFacilitator } from "#test/shop.ts";
import { newKey, transferArgs } from "#test/smart-account.ts";
import { createAgent, send } from "#test/tenant.ts";

const databaseOf = useDatabase();
const chain = useSettlement();
const contracts = useContracts(chain);
afterAll(async () => expect(await brokenInvariants()).toEqual([]));

const registered = (scene: Parameters<typeof registeredScene>[2] = {}) => registeredScene(chain(), contracts(), scene);
const sellerHas = ({ seller }: RegisteredScene) => chain().balanceOf(seller.payTo);
const slots = ({ registrationId }: RegisteredScene) =>
  database().select().from(registrationSlots).where(eq(registrationSlots.registrationId, registrationId));

/** Authorizes and executes a payment without the agent's signature, so that the service signs. */
async function pay(scene: RegisteredScene, intent: Record<string, unknown> = {}) {
  const { authorizationId } = await authorized(scene, intent);
  return { authorizationId, ...(await execute(scene, { authorizationId })) };
}

function credentialIn(headers: Record<string, string> | undefined): Credential {
  const decoded = decodeCredential(headers?.["PAYMENT-SIGNATURE"] ?? "");
  if (!decoded.ok) throw new Error(decoded.detail);
  return decoded.credential;
}

/** Sends the signed payment to the token's contract, as a facilitator does. */
async function settle(headers: Record<string, string> | undefined): Promise<void> {
  const { payer, payTo, value, validAfter, validBefore, nonce, signature } = credentialIn(headers);
  const args = transferArgs({ from: payer, to: payTo, value, validAfter, validBefore, nonce }, signature);
  const call = { address: usdcAddress, abi: usdc.abi, functionName: "transferWithAuthorization" } as const;
  await chain().mined(chain().client.writeContract({ ...call, args }));
}

/** Sets the expiry of the authorization's execution and nonce slot to a minute ago, so that workers handle both next. */
async function timePasses(authorizationId: string): Promise<void> {
  const validBefore = new Date(Date.now() - 60_000);
  const byExecution = eq(executions.authorizationId, authorizationId);
  await database()
    .update(executions)
    .set({ validBefore, nextCheckAt: new Date(0) })
    .where(byExecution);
  await database().update(registrationSlots).set({ validBefore }).where(eq(registrationSlots.authorizationId, authorizationId));
}

describe("an agent that holds no wallet", () => {
  test("pays a standard x402 seller with the service's signature, unmodified, and the money moves once", async () => {
    const payTo = newKey().address;
    const shop = await startSeller({ facilitator: await stockFacilitator(chain()), payTo });
    const scene = await registered({ payTo });
    const { data, authorizationId } = await pay(scene);
    expect(data).toMatchObject({ settlementStatus: "pending", enforcementPath: "offchain" });
    const paid = await fetch(`${shop.url}/report`, { headers: data.credentialHeaders ?? {} });
    expect([paid.status, await paid.json()]).toEqual([200, { report: "all is well" }]);
    expect((await fetch(`${shop.url}/report`, { headers: data.credentialHeaders ?? {} })).status).toBe(402);
    await shop.close();
    const settled = async () => (await reconcile(), (await readPayment(scene, authorizationId)).data.executions[0]);
    await expect.poll(settled, { interval: 200 }).toMatchObject({ settlementStatus: "settled" });
    expect(await sellerHas(scene)).toBe(250_000n);
    expect(await chain().balanceOf(scene.key.address)).toBe(9_750_000n);
    expect(await slots(scene)).toMatchObject([{ status: "used", slot: 0, authorizationId }]);
  });

  test("pays with the npm package, which then needs no wallet, and pays once for an operation", async () => {
    const payTo = newKey().address;
    const shop = await startSeller({ facilitator: await stockFacilitator(chain()), payTo });
    const service = await listenService();
    const scene = await registered({ payTo });
    const apiKey = scene.agent.credential["authorization"]?.slice("Bearer ".length) ?? "";
    const client = countersign({ url: service.url, apiKey, mandateId: scene.mandateId, followSeconds: 0 });
    const { sellerId, resourceId } = scene.seller;
    const fetchReport = () => client.fetch(`${shop.url}/report`, { operation: "keyless", sellerId, resourceId });
    expect(await (await fetchReport()).json()).toEqual({ report: "all is well" });
    await expect(fetchReport()).rejects.toThrow(NotServed);
    const settings = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: apiKey, COUNTERSIGN_MANDATE: scene.mandateId };
    const said = await runPython([`${shop.url}/report`, "python"], { ...settings, SELLER: sellerId, RESOURCE: resourceId });
    expect(["null", '{"report":"all is well"}']).toContain(said?.trim() ?? "null");
    expect(await sellerHas(scene)).toBe(said === null ? 250_000n : 500_000n);
    await Promise.all([shop.close(), service.close()]);
  });

  test("pays with settlement by this service, and the same key gets the same bytes", async () => {
    const scene = await registered({ settlementMode: "facilitatorSettled" });
    const { authorizationId } = await authorized(scene);
    const replies = await Promise.all([1, 2, 3, 4].map(() => execute(scene, { authorizationId, idempotencyKey: "one" })));
    const bodies = replies.filter(({ status }) => status === 200).map(({ data }) => JSON.stringify(data));
    expect(new Set(bodies).size).toBe(1);
    expect((await execute(scene, { authorizationId, idempotencyKey: "one" })).data.settlementStatus).toBe("settled");
    expect((await execute(scene, { authorizationId })).problem.code).toBe("authorization_consumed");
    expect(await sellerHas(scene)).toBe(250_000n);
    expect(await slots(scene)).toMatchObject([{ status: "used", slot: 0 }]);
  });

  test("pays a standard seller whose facilitator is this service: the payment is found by its nonce slot, and settled once", async () => {
    const scene = await registered();
    const service = await listenService();
    const { credential } = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
    const facilitator = ourFacilitator(service, credential["authorization"] ?? "");
    const shop = await startSeller({ facilitator, payTo: scene.seller.payTo });
    // Without the server's 402 response, the service would name the payee in checksum form, which this server does not accept.
    const unpaid = await fetch(`${shop.url}/report`);
    const challenge = decodePaymentRequiredHeader(unpaid.headers.get("payment-required") ?? "");
    const extensions = { "payment-identifier": { info: { required: true }, schema: {} } };
    const { data, authorizationId } = await pay(scene, { challenge: { ...challenge, extensions } });
    const headers = data.credentialHeaders ?? {};
    expect(decodePaymentSignatureHeader(headers["PAYMENT-SIGNATURE"] ?? "").extensions).toEqual({
      "payment-identifier": { info: { required: true, id: authorizationId }, schema: {} },
    });
    expect((await fetch(`${shop.url}/report`, { headers })).status).toBe(200);
    expect((await fetch(`${shop.url}/report`, { headers })).status).toBe(402);
    await Promise.all([shop.close(), service.close()]);
    expect((await readPayment(scene, authorizationId)).data.executions[0]?.settlementStatus).toBe("settled");
    expect(await sellerHas(scene)).toBe(250_000n);
  });

  test("is asked for a signed payment if no registration covers the payment", async () => {
    const scene = await registered({ terms: { payee: newKey().address } });
    expect((await pay(scene)).problem.code).toBe("credential_missing");
    expect(await slots(scene)).toEqual([]);
  });
});

describe("fifty payments at once", () => {
  test("take each of the twenty nonce slots once, and the chain pays each", async () => {
    const limits = { perPaymentLimit: 50_000n, periodLimit: 1_000_000n, maxPaymentsPerPeriod: 20 };
    const scene = await registered({ price: "0.05", terms: limits });
    const allowed = await Promise.all(Array.from({ length: 50 }, () => authorized(scene)));
    const replies = await Promise.all(allowed.map(({ authorizationId }) => execute(scene, { authorizationId })));
    const made = replies.filter(({ status }) => status === 200);
    expect(made).toHaveLength(20);
    const refused = replies.filter(({ status }) => status !== 200).map(({ status, problem }) => [status, problem.code]);
    expect(refused).toEqual(Array.from({ length: 30 }, () => [403, "count_limit_exceeded"]));
    const taken = await slots(scene);
    expect(taken.map(({ slot }) => slot).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, slot) => slot));
    expect(taken.reduce((sum, { amount }) => sum + amount, 0n)).toBe(limits.periodLimit);
    await Promise.all(made.map(({ data }) => settle(data.credentialHeaders)));
    expect(await sellerHas(scene)).toBe(limits.periodLimit);
  });
});

describe("a refusal by the chain is reported before the service signs", () => {
  const soon = () => Math.floor(Date.now() / 1_000);
  test.each([
    ["a mandate that it does not know", { onChain: false }, 403, "mandate_not_active", "register_mandate_onchain"],
    ["one that begins later", { terms: () => ({ start: soon() + 3_600 }) }, 403, "mandate_not_yet_valid", "retry_later"],
    ["one that has ended", { terms: () => ({ end: soon() - 5 }) }, 403, "mandate_expired", "renew_mandate"],
    ["one whose end is near", { terms: () => ({ end: soon() + 30 }) }, 403, "mandate_expired", "renew_mandate"],
    ["a larger payment", { price: "0.26" }, 403, "per_payment_limit_exceeded", "raise_mandate_limit"],
    ["the end of a period", { terms: () => ({ start: soon() - 3_580 }) }, 429, "rate_limited", "retry_later"],
    ["an account that does not run our code", { delegate: false }, 402, "wallet_not_delegated", "delegate_wallet"],
  ] as const)("%s", async (_name, given, status, code, action) => {
    const { terms, ...scene } = { terms: undefined, ...given };
    const { problem, ...reply } = await pay(await registered({ ...scene, ...(terms && { terms: terms() }) }));
    expect([reply.status, problem.code, problem.nextActions[0]?.type]).toEqual([status, code, action]);
    const waits = Number(reply.headers.get("retry-after"));
    expect(waits > 0 && waits <= 22).toBe(status === 429);
  });

  test("a mandate that was revoked on the chain", async () => {
    const scene = await registered();
    await revokeOnChain(chain(), contracts(), scene.key.address, scene.onChainId);
    expect((await pay(scene)).problem.code).toBe("mandate_revoked");
    expect(await slots(scene)).toEqual([]);
  });

  test("a mandate whose revocation is not on the chain yet", async () => {
    const scene = await registered();
    const { authorizationId } = await authorized(scene);
    const as = scene.person.credential;
    expect((await send(mandates.revokeMandate, revokeMandate, { as, id: scene.mandateId, body: {} })).status).toBe(200);
    const { status, problem } = await execute(scene, { authorizationId });
    expect([status, problem.code]).toEqual([403, "mandate_revoked"]);
    expect((await readPayment(scene, authorizationId)).data.executions).toEqual([]);
  });

  test("a suspended mandate: nothing is signed for it", async () => {
    const paused = await registered();
    const { authorizationId } = await authorized(paused);
    const as = paused.person.credential;
    expect((await send(mandates.suspendMandate, suspendMandate, { as, id: paused.mandateId, body: {} })).status).toBe(200);
    const { status, problem } = await execute(paused, { authorizationId });
    expect([status, problem.code]).toEqual([403, "mandate_not_active"]);
    expect(await slots(paused)).toEqual([]);
  });

  test("a key that is revoked while the call waits: nothing is signed for it", async () => {
    const scene = await registered();
    const { authorizationId } = await authorized(scene);
    const point = await hold(databaseOf().url, `SELECT pg_advisory_xact_lock(${GATE})`);
    const asked = execute(scene, { authorizationId });
    await point.blocks();
    const { serviceAccountId } = scene.agent;
    await database().update(apiKeys).set({ revokedAt: new Date() }).where(eq(apiKeys.serviceAccountId, serviceAccountId));
    await point.release();
    const { status, problem } = await asked;
    expect([status, problem.code]).toEqual([403, "forbidden"]);
    expect(await slots(scene)).toEqual([]);
  });

  test("an account without enough money: the failure is recorded, and the nonce slot stays with this payment", async () => {
    const scene = await registered({ balance: 0n });
    const { authorizationId, status, problem } = await pay(scene);
    expect([status, problem.code, problem.nextActions[0]?.type]).toEqual([402, "insufficient_funds", "fund_wallet"]);
    await chain().mint(scene.key.address, 250_000n);
    expect((await execute(scene, { authorizationId })).data.settlementStatus).toBe("pending");
    expect(await slots(scene)).toMatchObject([{ status: "held", slot: 0 }]);
  });
});

describe("the validity of the service's signature", () => {
  test("ends with the period of the limit", async () => {
    const now = Math.floor(Date.now() / 1_000);
    const scene = await registered({ terms: { start: now - 3_520 } });
    const { data } = await pay(scene);
    expect(credentialIn(data.credentialHeaders).validBefore).toBe(BigInt(now + 80));
  });
});

describe("a nonce slot", () => {
  const one = { periodLimit: 250_000n, maxPaymentsPerPeriod: 1 };

  test("is free again when its signature can no longer be used, and then serves another payment", async () => {
    const scene = await registered({ terms: one });
    const first = await pay(scene);
    expect((await pay(scene)).problem.code).toBe("count_limit_exceeded");
    expect(await freeNonceSlots()).toBe(0);
    await timePasses(first.authorizationId);
    expect(await freeNonceSlots(), "while its execution is followed").toBe(0);
    await reconcile();
    expect(await freeNonceSlots()).toBe(1);
    const second = await pay(scene);
    expect(credentialIn(second.data.credentialHeaders).nonce).toBe(credentialIn(first.data.credentialHeaders).nonce);
    await settle(second.data.credentialHeaders);
    expect(await sellerHas(scene)).toBe(250_000n);
    expect((await slots(scene)).map(({ status }) => status).toSorted()).toEqual(["free", "held"]);
  });

  test("that was never used is free after its signature would have expired", async () => {
    const scene = await registered({ terms: one, balance: 0n });
    const first = await pay(scene);
    expect((await pay(scene)).problem.code).toBe("count_limit_exceeded");
    await timePasses(first.authorizationId);
    expect(await freeNonceSlots()).toBe(1);
    await chain().mint(scene.key.address, 250_000n);
    expect((await pay(scene)).data.settlementStatus).toBe("pending");
  });

  test("whose nonce the account used itself is never used again", async () => {
    const scene = await registered();
    const nonce = nonceOfSlot(scene.onChainId, 0, 0);
    const types = {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    } as const;
    const signature = await scene.key.signTypedData({
      domain: { name: "USDC", version: "2", chainId: 84_532, verifyingContract: usdcAddress },
      types,
      primaryType: "CancelAuthorization",
      message: { authorizer: scene.key.address, nonce },
    });
    const call = { address: usdcAddress, abi: usdc.abi, functionName: "cancelAuthorization" } as const;
    await chain().mined(chain().client.writeContract({ ...call, args: [scene.key.address, nonce, signature] }));
    const { authorizationId, problem } = await pay(scene);
    expect(problem.code).toBe("nonce_already_used");
    const again = await execute(scene, { authorizationId });
    expect(again.data.settlementStatus).toBe("pending");
    expect((await slots(scene)).map(({ slot, status }) => [slot, status]).toSorted()).toEqual([
      [0, "used"],
      [1, "held"],
    ]);
  });
});
