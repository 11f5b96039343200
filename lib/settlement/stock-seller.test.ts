import { x402Client } from "@x402/core/client";
import { decodePaymentResponseHeader } from "@x402/core/http";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment } from "@x402/fetch";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { buy } from "../../examples/without-package.ts";
import { startSeller } from "../../examples/seller.ts";
import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { forget } from "#lib/process.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { readReceived } from "#lib/settlement/list-settlements.ts";
import { useDatabase } from "#test/database.ts";
import { assets, CHAIN } from "#test/mandates.ts";
import { past } from "#test/past.ts";
import {
  authorized,
  execute,
  expectedOf,
  paymentScene,
  readPayment,
  signed,
  signedFor,
  useSettlement,
  type PaymentScene,
  type newWallet,
  fundedWallet,
} from "#test/payments.ts";
import { listenService, ourFacilitator, stockFacilitator, type ListeningServer } from "#test/shop.ts";
import { createAgent } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();
const open: Pick<ListeningServer, "close">[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const opened = async <T extends Pick<ListeningServer, "close">>(promise: Promise<T>): Promise<T> => {
  const listening = await promise;
  open.push(listening);
  return listening;
};

/** The payment header that a standard client signs when the seller answers 402. */
async function askedBy(shop: { readonly url: string }, wallet: ReturnType<typeof newWallet>): Promise<string> {
  const unpaid = await fetch(`${shop.url}/report`);
  expect(unpaid.status).toBe(402);
  return signedFor(wallet, (name) => unpaid.headers.get(name));
}

const balanceOfSeller = ({ seller }: PaymentScene) => chain().balanceOf(seller.payTo);

const settlementStatus = async (scene: PaymentScene, authorizationId: string) =>
  (await readPayment(scene, authorizationId)).data.executions[0]?.settlementStatus;

const received = async ({ sellerOrganizationId }: PaymentScene) =>
  (await readReceived({ organizationId: sellerOrganizationId, environment: "sandbox" }, { limit: 20 })).items;

async function ourShop(scene: PaymentScene) {
  const service = await opened(listenService());
  const account = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
  return opened(
    startSeller({ facilitator: ourFacilitator(service, account.credential["authorization"] ?? ""), payTo: scene.seller.payTo }),
  );
}

describe("a seller with the standard x402 library", () => {
  test("with its own facilitator is paid: the service returns the signed payment, finds the transfer and captures the hold", async () => {
    const scene = await paymentScene();
    const wallet = await fundedWallet(chain());
    const shop = await opened(startSeller({ facilitator: await stockFacilitator(chain()), payTo: scene.seller.payTo }));
    const { authorizationId } = await authorized(scene);
    const executed = await execute(scene, { authorizationId, paymentCredential: await askedBy(shop, wallet) });
    expect(executed.data).toMatchObject({ settlementStatus: "pending", settlementMode: "offchainAuthorized" });
    const paid = await fetch(`${shop.url}/report`, { headers: executed.data.credentialHeaders ?? {} });
    expect(paid.status).toBe(200);
    const receipt = decodePaymentResponseHeader(paid.headers.get("payment-response") ?? "");
    await expect
      .poll(async () => (await reconcile(), settlementStatus(scene, authorizationId)), { interval: 200 })
      .toBe("settled");
    const { data } = await readPayment(scene, authorizationId);
    expect(data.executions[0]).toMatchObject({ settlementReference: receipt.transaction });
    expect(await balanceOfSeller(scene)).toBe(250_000n);
  });

  test("is paid 2 USDC by the example agent, which stops when the policy denies", async () => {
    const scene = await paymentScene({ price: "2", mandate: { policy: { assets, limits: { perPayment: "2", total: "9" } } } });
    const wallet = await fundedWallet(chain(), 3_000_000n);
    const service = await opened(listenService());
    const facilitator = await stockFacilitator(chain());
    const shop = await opened(startSeller({ facilitator, payTo: scene.seller.payTo, prices: { "/report": "$2" } }));
    const apiKey = scene.agent.credential["authorization"]?.slice("Bearer ".length) ?? "";
    const agent = { serviceUrl: service.url, apiKey, mandateId: scene.mandateId, wallet };
    const { sellerId, resourceId, price: amount } = scene.seller;
    const purchase = { url: `${shop.url}/report`, sellerId, resourceId, amount };
    const bought = await buy(agent, purchase);
    expect(bought.outcome === "paid" && (await bought.response.json())).toEqual({ report: "all is well" });
    expect(await balanceOfSeller(scene)).toBe(2_000_000n);
    const refused = await buy(agent, { ...purchase, amount: "2.01" });
    expect(refused).toMatchObject({
      outcome: "refused",
      authorization: { policyDecision: { denialCode: "challenge_mismatch" } },
    });
    expect(await chain().balanceOf(wallet.address)).toBe(1_000_000n);
  });

  test("whose facilitator is this service gets success once for a payment that executePayment settled, then nonce_already_used", async () => {
    const scene = await paymentScene({ settlementMode: "facilitatorSettled" });
    const wallet = await fundedWallet(chain());
    const shop = await ourShop(scene);
    const { authorizationId } = await authorized(scene);
    const executed = await execute(scene, { authorizationId, paymentCredential: await askedBy(shop, wallet) });
    expect(executed.data.settlementStatus).toBe("settled");
    expect(Object.keys(executed.data.credentialHeaders ?? {})).toEqual(["PAYMENT-SIGNATURE", "PAYMENT-RESPONSE"]);
    const headers = executed.data.credentialHeaders ?? {};
    const first = await fetch(`${shop.url}/report`, { headers });
    expect(first.status).toBe(200);
    const receipt = decodePaymentResponseHeader(first.headers.get("payment-response") ?? "");
    expect(receipt).toMatchObject({ success: true, transaction: executed.data.settlementReference });
    expect(await received(scene)).toMatchObject([
      { settlementId: executed.data.executionId, resourceId: "report", amount: "0.25", transaction: receipt.transaction },
    ]);
    const second = await fetch(`${shop.url}/report`, { headers });
    expect(second.status).toBe(402);
    expect(await balanceOfSeller(scene)).toBe(250_000n);
    expect(shop.served()).toBe(1);
  });

  test("whose facilitator is this service can settle a payment that the service only watched, and it is captured", async () => {
    const scene = await paymentScene();
    const wallet = await fundedWallet(chain());
    const shop = await ourShop(scene);
    const { authorizationId } = await authorized(scene);
    const executed = await execute(scene, { authorizationId, paymentCredential: await askedBy(shop, wallet) });
    const headers = executed.data.credentialHeaders ?? {};
    const replies = await Promise.all([1, 2, 3, 4].map(() => fetch(`${shop.url}/report`, { headers })));
    expect(replies.map((reply) => reply.status).toSorted()).toEqual([200, 402, 402, 402]);
    expect(await settlementStatus(scene, authorizationId)).toBe("settled");
    expect(await balanceOfSeller(scene)).toBe(250_000n);
  });

  test("whose facilitator is this service is paid later if the gas was too dear at first, also after many checks of the chain", async () => {
    const scene = await paymentScene();
    const wallet = await fundedWallet(chain());
    const shop = await ourShop(scene);
    const { authorizationId } = await authorized(scene);
    const executed = await execute(scene, { authorizationId, paymentCredential: await askedBy(shop, wallet) });
    const { executionId, credentialHeaders } = executed.data;
    await database().update(executions).set({ attempts: 100 }).where(eq(executions.executionId, executionId));
    process.env["RELAY_MAX_FEE_GWEI"] = "0.001";
    forget("env");
    await chain().client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n });
    await chain().client.mine({ blocks: 1 });
    onTestFinished(() => {
      delete process.env["RELAY_MAX_FEE_GWEI"];
      forget("env");
    });
    const reply = fetch(`${shop.url}/report`, { headers: credentialHeaders ?? {} });
    await expect.poll(() => settlementStatus(scene, authorizationId)).toBe("unknown");
    delete process.env["RELAY_MAX_FEE_GWEI"];
    forget("env");
    await database().update(executions).set({ nextCheckAt: past }).where(eq(executions.executionId, executionId));
    await reconcile();
    expect(await settlementStatus(scene, authorizationId)).toBe("settled");
    expect((await reply).status).toBe(200);
  });

  test("is paid without a mandate by a standard client through this service's facilitator, once", async () => {
    const scene = await paymentScene();
    const wallet = await fundedWallet(chain());
    const shop = await ourShop(scene);
    const pay = wrapFetchWithPayment(fetch, new x402Client().register(CHAIN, new ExactEvmScheme(wallet)));
    const reply = await pay(`${shop.url}/report`);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toEqual({ report: "all is well" });
    expect(await balanceOfSeller(scene)).toBe(250_000n);
    expect(await chain().balanceOf(wallet.address)).toBe(750_000n);
    expect(await received(scene)).toMatchObject([
      { resourceId: "report", amount: "0.25", status: "settled", payer: wallet.address.toLowerCase() },
    ]);
  });

  test("cannot settle a payment to another payee, nor without the capability", async () => {
    const scene = await paymentScene();
    const other = await paymentScene();
    const wallet = await fundedWallet(chain());
    const service = await opened(listenService());
    const account = await createAgent(other.sellerOrganizationId, ["payments:settle"]);
    const expected = expectedOf(scene);
    const header = await signed(wallet, expected);
    const paymentPayload: unknown = JSON.parse(Buffer.from(header, "base64").toString());
    const { accepted } = paymentPayload as { accepted: unknown };
    const ask = (path: string, authorization: string) =>
      fetch(`${service.url}/api/x402/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization },
        body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: accepted }),
      });
    const foreign = await ask("settle", account.credential["authorization"] ?? "");
    expect(await foreign.json()).toMatchObject({ success: false, errorReason: "invalid_exact_evm_payload_recipient_mismatch" });
    const agent = await ask("settle", scene.agent.credential["authorization"] ?? "");
    expect(agent.status).toBe(403);
    expect(await agent.json()).toMatchObject({ success: false, errorReason: "capability_required" });
    const nobody = await ask("verify", "Bearer nonsense");
    expect(nobody.status).toBe(401);
    expect(await nobody.json()).toMatchObject({ isValid: false });
    expect(await balanceOfSeller(scene)).toBe(0n);
  });
});
