import { eq } from "drizzle-orm";
import { createWalletClient, encodeFunctionData, http, parseAbi, type Hex } from "viem";
import type { PaymentPayload } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { usdcAddress } from "../../examples/chain.ts";
import { database } from "#lib/db/client.ts";
import { chainOf } from "#lib/chains/chains.ts";
import { chainIsSilent, publicClient, ranOutOfGas } from "#lib/chains/client.ts";
import { SETTLEMENT_MAX_GAS, TOO_MUCH_GAS } from "#lib/onchain/token.ts";
import { executions, reservations } from "#lib/holds/tables.ts";
import { forget } from "#lib/process.ts";
import { facilitatorFor } from "#lib/settlement/facilitator.ts";
import { followTransactions } from "#lib/settlement/follow-transactions.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { factsNow, NoGas, sendGroup } from "#lib/settlement/sending/send-group.ts";
import { senderOn } from "#lib/settlement/sending/sender.ts";
import { settlementTransactions } from "#lib/settlement/tables.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN } from "#test/mandates.ts";
import { past } from "#test/past.ts";
import { authorized, execute, expectedOf, newWallet, paymentScene, readPayment, signed, useSettlement } from "#test/payments.ts";
import { listenService, type ListeningServer } from "#test/shop.ts";
import { createAgent } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement({ facilitatorTimeoutMs: 1_500 });
let service: ListeningServer;
beforeAll(async () => {
  service = await listenService();
});
afterAll(() => service.close());

const weSettle = { settlementMode: "facilitatorSettled" } as const;
/**
 * The code of a contract that counts down from 500,000, which uses much gas, and then answers with the magic value of ERC-1271.
 */
const LOOPS = "0x6207a1205b6001900380600457631626ba7e60e01b60005260206000f3";
/** The code of a contract that loops until its gas is used up. */
const NEVER_ENDS = "0x5b600056";

async function payerWith(code: Hex, scene: Awaited<ReturnType<typeof paymentScene>>) {
  const wallet = newWallet();
  await chain().mint(wallet.address, 1_000_000n);
  const header = await signed(wallet, expectedOf(scene));
  await chain().client.setCode({ address: wallet.address, bytecode: code });
  return header;
}

const rows = () => database().select().from(settlementTransactions);
const gasMoney = () => chain().client.getBalance({ address: settlementAccount().address });

async function due(executionId: string): Promise<void> {
  await database()
    .update(executions)
    .set({ nextCheckAt: new Date(0) })
    .where(eq(executions.executionId, executionId));
  await reconcile();
}

describe("a payer's account whose code uses much gas", () => {
  test.each([
    ["more than a settlement may cost", LOOPS, "invalid_transaction_state"],
    ["without an end", NEVER_ENDS, "invalid_exact_evm_payload_signature"],
  ] as const)("%s is refused by verify and settle, and costs no gas", async (_, code, reason) => {
    const scene = await paymentScene();
    const { credential } = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
    const paymentPayload = JSON.parse(Buffer.from(await payerWith(code, scene), "base64").toString()) as { accepted: object };
    const ask = async (endpoint: string) => {
      const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: paymentPayload.accepted });
      const headers = { "content-type": "application/json", ...credential };
      return (await fetch(`${service.url}/api/x402/${endpoint}`, { method: "POST", headers, body })).json();
    };
    const before = await gasMoney();
    expect(await ask("verify")).toMatchObject({ isValid: false, invalidReason: reason });
    expect(await ask("settle")).toMatchObject({ success: false, errorReason: reason, transaction: "" });
    expect(await gasMoney()).toBe(before);
  });

  test("is refused with its reason when the payment is executed", async () => {
    const scene = await paymentScene(weSettle);
    const { authorizationId } = await authorized(scene);
    const { problem } = await execute(scene, { authorizationId, paymentCredential: await payerWith(LOOPS, scene) });
    expect(problem).toMatchObject({ status: 402, code: "settlement_rejected", detail: TOO_MUCH_GAS });
  });

  test("is not confused with a chain that does not answer", async () => {
    const account = newWallet().address;
    await chain().client.setCode({ address: account, bytecode: NEVER_ENDS });
    const failure: unknown = await publicClient(CHAIN)
      .call({ to: account, gas: SETTLEMENT_MAX_GAS })
      .catch((error: unknown) => error);
    expect([ranOutOfGas(failure), chainIsSilent(failure)]).toEqual([true, false]);
  });

  test("is refused by the settlement too, after verify accepted it", async () => {
    const scene = await paymentScene(weSettle);
    const header = await payerWith(LOOPS, scene);
    const payload = JSON.parse(Buffer.from(header, "base64").toString()) as PaymentPayload;
    const answer = await facilitatorFor(null).settle(payload, payload.accepted, { transaction: null, receipt: null });
    expect(answer).toMatchObject({ success: false, errorReason: "invalid_transaction_state", errorMessage: TOO_MUCH_GAS });
  });

  test("is refused when the transfer is sent if the code has changed since then", async () => {
    const before = (await rows()).length;
    const account = newWallet().address;
    await chain().client.setCode({ address: account, bytecode: LOOPS });
    const { outcomes } = await sendGroup(CHAIN, [{ to: account, data: "0x", validBefore: null }]);
    expect(outcomes).toEqual([{ error: expect.objectContaining({ message: TOO_MUCH_GAS }) as unknown }]);
    expect(await rows()).toHaveLength(before);
  });
});

describe("the settlement key, which pays the gas", () => {
  test("sends each call that it can pay for, even after a call that it cannot pay for", async () => {
    const to = settlementAccount().address;
    const known = await factsNow(CHAIN);
    const dear = { to, data: `0x${"11".repeat(10_000)}` as const, validBefore: null };
    const cheap = { to, data: "0x01" as const, validBefore: null };
    const facts = { ...known, balance: 100_000n * known.fees.maxFeePerGas };
    const { outcomes, sent } = await sendGroup(CHAIN, [dear, cheap], Promise.resolve(facts));
    await sent;
    expect(outcomes).toEqual([{ error: expect.any(NoGas) as unknown }, { hash: expect.any(String) as unknown }]);
  });

  test("waits while the base fee is above the limit, and pays when it has fallen", async () => {
    const scene = await paymentScene(weSettle);
    const wallet = newWallet();
    await chain().mint(wallet.address, 1_000_000n);
    const { authorizationId } = await authorized(scene);
    const paymentCredential = await signed(wallet, expectedOf(scene));
    process.env["RELAY_MAX_FEE_GWEI"] = "0.001";
    forget("env");
    onTestFinished(() => {
      delete process.env["RELAY_MAX_FEE_GWEI"];
      forget("env");
    });
    await chain().client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n });
    await chain().client.mine({ blocks: 1 });
    const { data } = await execute(scene, { authorizationId, paymentCredential });
    expect(data.settlementStatus).toBe("unknown");
    process.env["RELAY_MAX_FEE_GWEI"] = "100";
    forget("env");
    await due(data.executionId);
    const [execution] = (await readPayment(scene, authorizationId)).data.executions;
    expect(execution?.settlementStatus).toBe("settled");
  });

  test("never offers fees above the limit", async () => {
    process.env["RELAY_MAX_FEE_GWEI"] = "2";
    forget("env");
    onTestFinished(() => {
      delete process.env["RELAY_MAX_FEE_GWEI"];
      forget("env");
    });
    await chain().client.setNextBlockBaseFeePerGas({ baseFeePerGas: 15n * 10n ** 8n });
    await chain().client.mine({ blocks: 1 });
    expect((await factsNow(CHAIN)).fees.maxFeePerGas).toBe(2n * 10n ** 9n);
  });

  test("sets no alarm after the only call that waited for gas has expired", async () => {
    const sender = senderOn(CHAIN);
    const balance = await gasMoney();
    const { address } = settlementAccount();
    await chain().client.setBalance({ address, value: 0n });
    onTestFinished(() => chain().client.setBalance({ address, value: balance }));
    const call = { to: address, data: "0x77" as const, validBefore: new Date(Date.now() + 400) };
    await expect(sender.send(call)).rejects.toThrow(NoGas);
    expect(sender.failingSeconds).toBeGreaterThan(0);
    await expect.poll(() => sender.failingSeconds).toBe(0);
  });
});

describe("a stored transaction", () => {
  test("keeps the hold while it can still make the transfer, even if the token would refuse it now", async () => {
    const scene = await paymentScene(weSettle);
    const wallet = newWallet();
    const { authorizationId } = await authorized(scene);
    const paymentCredential = await signed(wallet, expectedOf(scene));
    await chain().mint(wallet.address, 300_000n);
    await chain().fund(wallet.address);
    await chain().client.setAutomine(false);
    const { data } = await execute(scene, { authorizationId, paymentCredential });
    // The database and the node get the state that they have if the process dies before it stores the result and the node loses
    // the transaction.
    await chain().client.dropTransaction({ hash: data.settlementReference as Hex });
    await database().update(executions).set({ settlementReference: null }).where(eq(executions.executionId, data.executionId));
    await chain().client.setAutomine(true);
    const payer = createWalletClient({ account: wallet, transport: http(chainOf(CHAIN)?.rpcUrl) });
    const abi = parseAbi(["function transfer(address,uint256) returns (bool)"]);
    const away = encodeFunctionData({ abi, functionName: "transfer", args: [newWallet().address, 200_000n] });
    await payer.sendTransaction({ chain: null, to: usdcAddress, data: away });
    await due(data.executionId);
    const states = async () => {
      const [execution] = await database().select().from(executions).where(eq(executions.executionId, data.executionId));
      const [hold] = await database().select().from(reservations).where(eq(reservations.authorizationId, authorizationId));
      return [execution?.settlementStatus, execution?.settlementReference, hold?.status];
    };
    expect(await states()).toEqual(["processing", data.settlementReference, "submitted"]);
    await chain().mint(wallet.address, 300_000n);
    await database().update(settlementTransactions).set({ nextCheckAt: past }).where(eq(settlementTransactions.status, "sent"));
    await followTransactions();
    await due(data.executionId);
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(250_000n);
    expect(await states()).toEqual(["settled", data.settlementReference, "captured"]);
  });
});
