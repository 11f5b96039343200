import { eq } from "drizzle-orm";
import { createWalletClient, encodeFunctionData, http, parseAbi, type Hex } from "viem";
import { describe, expect, onTestFinished, test } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import { chainOf } from "#lib/chains/chains.ts";
import { database } from "#lib/db/client.ts";
import { executions, reservations } from "#lib/holds/tables.ts";
import { resolveExecution } from "#lib/payments/executions/resolve-execution.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { settlementTransactions } from "#lib/settlement/tables.ts";
import { usdcAddress } from "#test/chain.ts";
import { useDatabase } from "#test/database.ts";
import { assets, CHAIN } from "#test/mandates.ts";
import { past } from "#test/past.ts";
import { authorized, execute, expectedOf, fundedWallet, newWallet, paymentScene, signed, useSettlement } from "#test/payments.ts";
import { listenService, ourFacilitator, stockFacilitator } from "#test/shop.ts";
import { createAgent } from "#test/tenant.ts";
import { decodePaymentSignatureHeader } from "@x402/core/http";

/*
 * Whoever has a signed payment can settle it until it expires or its nonce is used. So its amount stays held until then, whatever
 * became of one attempt to settle it.
 */

useDatabase();
const chain = useSettlement();

async function payment(settlementMode: "offchainAuthorized" | "facilitatorSettled") {
  const scene = await paymentScene({
    settlementMode,
    mandate: { policy: { assets, limits: { perPayment: "0.25", total: "0.25" } } },
  });
  const wallet = await fundedWallet(chain());
  const { authorizationId } = await authorized(scene);
  const paymentCredential = await signed(wallet, expectedOf(scene));
  const state = async () => {
    const [execution] = await database().select().from(executions).where(eq(executions.authorizationId, authorizationId));
    const [hold] = await database().select().from(reservations).where(eq(reservations.authorizationId, authorizationId));
    return { settlement: execution?.settlementStatus, hold: hold?.status };
  };
  const follow = async () => {
    await database().update(executions).set({ nextCheckAt: past }).where(eq(executions.authorizationId, authorizationId));
    await reconcile();
    return state();
  };
  return { scene, wallet, paymentCredential, state, follow, pay: () => execute(scene, { authorizationId, paymentCredential }) };
}

/** Moves all of a wallet's tokens away, with a tip that puts this before other transactions. */
async function empty(wallet: Awaited<ReturnType<typeof fundedWallet>>) {
  await chain().fund(wallet.address);
  const abi = parseAbi(["function transfer(address,uint256) returns (bool)"]);
  const data = encodeFunctionData({ abi, functionName: "transfer", args: [newWallet().address, 1_000_000n] });
  const payer = createWalletClient({ account: wallet, transport: http(chainOf(CHAIN)?.rpcUrl) });
  await payer.sendTransaction({
    chain: null,
    to: usdcAddress,
    data,
    gas: 100_000n,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 50_000_000_000n,
  });
}

describe("the amount of a signed payment stays held", () => {
  test("after its transaction was reverted, because anybody can send its call again", async () => {
    const { wallet, pay, state, follow, scene } = await payment("facilitatorSettled");
    await chain().client.setAutomine(false);
    onTestFinished(() => chain().client.setAutomine(true));
    const paying = pay();
    await expect.poll(async () => (await chain().client.getTxpoolStatus()).pending).toBe(1);
    const [stored] = await database().select().from(settlementTransactions);
    await empty(wallet);
    await chain().client.mine({ blocks: 1 });
    await chain().client.setAutomine(true);
    const { status, data } = await paying;
    expect([status, data.settlementStatus]).toEqual([200, "unknown"]);
    expect(await state()).toEqual({ settlement: "unknown", hold: "submitted" });
    expect(await follow()).toEqual({ settlement: "unknown", hold: "submitted" });
    // The same finding about a payment whose outcome was unknown before also keeps the service from sending it again.
    const own = eq(executions.mandateId, scene.mandateId);
    const [execution] = await database().update(executions).set({ settlementReference: null }).where(own).returning();
    const finding = { kind: "unknown", detail: "It was reverted.", transaction: stored!.hash } as const;
    await transact((tx) => resolveExecution(tx, execution!.executionId, scene.mandateId, finding));
    expect(await database().select().from(executions).where(own)).toMatchObject([{ settlementReference: stored!.hash }]);
    await chain().mint(wallet.address, 250_000n);
    await chain().mined(chain().client.sendTransaction({ to: stored!.to as Hex, data: stored!.data as Hex }));
    expect(await follow()).toEqual({ settlement: "settled", hold: "captured" });
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(250_000n);
  });

  test("after this service refused to settle it for its seller, who has it", async () => {
    const { scene, wallet, pay, paymentCredential, state, follow } = await payment("offchainAuthorized");
    await pay();
    const service = await listenService();
    const account = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
    const payload = decodePaymentSignatureHeader(paymentCredential);
    onTestFinished(() => service.close());
    await empty(wallet);
    const told = ourFacilitator(service, account.credential["authorization"] ?? "").settle(payload, payload.accepted);
    await expect.poll(state).toEqual({ settlement: "unknown", hold: "submitted" });
    expect(await follow()).toEqual({ settlement: "unknown", hold: "submitted" });
    await chain().mint(wallet.address, 250_000n);
    await (await stockFacilitator(chain())).settle(payload, payload.accepted);
    expect(await follow()).toEqual({ settlement: "settled", hold: "captured" });
    expect(await told).toMatchObject({ success: true });
  });
});
