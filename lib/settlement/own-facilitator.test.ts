import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { afterEach, describe, expect, test } from "vitest";
import { concat, serializeErc6492Signature, type Address, type Hex } from "viem";
import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import { executions } from "#lib/holds/tables.ts";
import { forget } from "#lib/process.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { answerSettle } from "#lib/execute/answer-settle.ts";
import { readAsked } from "#lib/execute/settlement-request.ts";
import { reconcilePlain } from "#lib/settlement/reconcile-plain.ts";
import { settlementDays } from "#lib/onchain/tables.ts";
import { plainSettlements } from "#lib/settlement/tables.ts";
import { createAgent } from "#test/tenant.ts";
import { facilitatorFor, type Facilitator } from "#lib/settlement/facilitator.ts";
import { settleAndConfirm } from "#lib/settlement/submit.ts";
import { decodeCredential } from "#lib/x402/credential.ts";
import { requirementsOf } from "#lib/x402/requirements.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import {
  authorized,
  execute,
  expectedOf,
  paymentScene,
  readPayment,
  signed,
  useSettlement,
  fundedWallet,
  newWallet,
} from "#test/payments.ts";

useDatabase();
const chain = useSettlement({ facilitatorTimeoutMs: 2_500 });
afterEach(async () => expect(await brokenSums()).toEqual([]));

const weSettle = { settlementMode: "facilitatorSettled" } as const;
/** The code of a contract that accepts every signature: it answers isValidSignature with the magic value of ERC-1271. */
const AGREES = "0x631626ba7e60e01b60005260206000f3";

/** Makes the payer's account delegate to a contract with this code (EIP-7702). */
async function delegate(account: Address, code: Hex): Promise<void> {
  const implementation = privateKeyToAccount(generatePrivateKey()).address;
  await chain().client.setCode({ address: implementation, bytecode: code });
  await chain().client.setCode({ address: account, bytecode: concat(["0xef0100", implementation]) });
}

describe("the service's own facilitator", () => {
  test("answers processing with the transaction until a block comes, sends nothing twice, and then settles", async () => {
    const scene = await paymentScene(weSettle);
    const wallet = await fundedWallet(chain());
    const { authorizationId } = await authorized(scene);
    const paymentCredential = await signed(wallet, expectedOf(scene));
    await chain().client.setAutomine(false);
    const { status, data } = await execute(scene, { authorizationId, paymentCredential });
    expect([status, data.settlementStatus]).toEqual([200, "processing"]);
    expect(data.settlementReference).toMatch(/^0x[0-9a-f]{64}$/);
    await database()
      .update(executions)
      .set({ nextCheckAt: new Date(0) })
      .where(eq(executions.executionId, data.executionId));
    await reconcile();
    expect((await chain().client.getTxpoolStatus()).pending).toBe(1);
    await chain().client.mine({ blocks: 1 });
    await chain().client.setAutomine(true);
    await database()
      .update(executions)
      .set({ nextCheckAt: new Date(0) })
      .where(eq(executions.executionId, data.executionId));
    await reconcile();
    const [execution] = (await readPayment(scene, authorizationId)).data.executions;
    expect(execution).toMatchObject({ settlementStatus: "settled", settlementReference: data.settlementReference });
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(250_000n);
  });

  test("checks an EIP-7702 account only by ERC-1271: what its delegate accepts settles, anything else is refused", async () => {
    const scene = await paymentScene(weSettle);
    const agreeing = await fundedWallet(chain());
    await delegate(agreeing.address, AGREES);
    const first = await authorized(scene);
    const paid = await execute(scene, {
      authorizationId: first.authorizationId,
      paymentCredential: await signed(agreeing, expectedOf(scene)),
    });
    expect([paid.status, paid.data.settlementStatus]).toEqual([200, "settled"]);
    const refusing = await fundedWallet(chain());
    await delegate(refusing.address, "0x00");
    const second = await authorized(scene);
    const refused = await execute(scene, {
      authorizationId: second.authorizationId,
      paymentCredential: await signed(refusing, expectedOf(scene)),
    });
    expect([refused.status, refused.problem.code]).toEqual([402, "signature_invalid"]);
  });

  test("unwraps the signature of a deployed wallet (ERC-6492), and says that an undeployed wallet has to be deployed", async () => {
    const scene = await paymentScene(weSettle);
    const deployed = await fundedWallet(chain());
    await delegate(deployed.address, AGREES);
    const wrapped = async (wallet: PrivateKeyAccount): Promise<string> => {
      const payload = JSON.parse(Buffer.from(await signed(wallet, expectedOf(scene)), "base64").toString()) as {
        payload: { signature: Hex };
      };
      const { signature } = payload.payload;
      payload.payload.signature = serializeErc6492Signature({ address: deployed.address, data: "0xabcd", signature });
      return Buffer.from(JSON.stringify(payload)).toString("base64");
    };
    const pay = async (wallet: PrivateKeyAccount) =>
      execute(scene, {
        authorizationId: (await authorized(scene)).authorizationId,
        paymentCredential: await wrapped(wallet),
      });
    const paid = await pay(deployed);
    expect([paid.status, paid.data.settlementStatus]).toEqual([200, "settled"]);
    const refused = await pay(await fundedWallet(chain()));
    expect([refused.status, refused.problem.code]).toEqual([402, "signature_invalid"]);
    expect(refused.problem.detail).toContain("Deploy the wallet first");
  });

  test("settles 12 payments of 12 wallets at once", async () => {
    const scene = await paymentScene({ ...weSettle, price: "0.01" });
    const paid = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const wallet = await fundedWallet(chain());
        const { authorizationId } = await authorized(scene);
        const { data } = await execute(scene, { authorizationId, paymentCredential: await signed(wallet, expectedOf(scene)) });
        return data.settlementStatus;
      }),
    );
    expect(new Set(paid)).toEqual(new Set(["settled"]));
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(120_000n);
  });

  test("without gas reports the outcome unknown, refuses nothing, and settles when there is gas", async () => {
    const scene = await paymentScene(weSettle);
    const wallet = await fundedWallet(chain());
    const { authorizationId } = await authorized(scene);
    await chain().fund(settlementAccount().address, 0n);
    const { status, data } = await execute(scene, {
      authorizationId,
      paymentCredential: await signed(wallet, expectedOf(scene)),
    });
    expect([status, data.settlementStatus]).toEqual([200, "unknown"]);
    await chain().fund(settlementAccount().address);
    await database()
      .update(executions)
      .set({ nextCheckAt: new Date(0) })
      .where(eq(executions.executionId, data.executionId));
    await reconcile();
    expect((await readPayment(scene, authorizationId)).data.executions[0]?.settlementStatus).toBe("settled");
  });

  test("tries again if the payer had too little at the first try and has enough afterwards", async () => {
    const expected = expectedOf(await paymentScene(weSettle));
    const wallet = newWallet();
    const decoded = decodeCredential(await signed(wallet, expected));
    if (!decoded.ok) throw new Error(decoded.detail);
    const { payload, payer, nonce, validBefore } = decoded.credential;
    const { chain: network, tokenAddress } = expected.asset;
    const { payTo, amount } = expected;
    const until = new Date(Number(validBefore) * 1_000);
    const transfer = { chain: network, tokenAddress, payer, payTo, amount, nonce, validBefore: until, fromBlock: 0n };
    const own = facilitatorFor(null);
    const settle = (facilitator: Facilitator) => settleAndConfirm(facilitator, transfer, payload, requirementsOf(expected));
    expect(await settle(own)).toMatchObject({ kind: "failed", failure: { code: "insufficient_funds" } });
    const thenFunded: Facilitator["settle"] = async (...asked) => {
      const answer = await own.settle(...asked);
      await chain().mint(wallet.address, 1_000_000n);
      return answer;
    };
    expect(await settle({ ...own, settle: thenFunded })).toEqual({
      kind: "unknown",
      detail: "The paying wallet did not hold enough of the token at the last try. The service tries again.",
    });
    expect(await settle(own)).toMatchObject({ kind: "settled" });
  });

  test("429 after a seller's settlements of the day are used up, and nothing is recorded", async () => {
    const scene = await paymentScene(weSettle);
    const wallet = await fundedWallet(chain());
    process.env["SETTLEMENT_DAILY_CAP"] = "1";
    forget("env");
    const [first, second] = [await authorized(scene), await authorized(scene)];
    const pay = async (authorizationId: string) =>
      execute(scene, { authorizationId, paymentCredential: await signed(wallet, expectedOf(scene)) });
    expect((await pay(first.authorizationId)).data.settlementStatus).toBe("settled");
    const { status, problem } = await pay(second.authorizationId);
    expect([status, problem.code]).toEqual([429, "rate_limited"]);
    expect((await readPayment(scene, second.authorizationId)).data.executions).toEqual([]);
    delete process.env["SETTLEMENT_DAILY_CAP"];
    forget("env");
  });

  test("429 after the installation's settlements of the day are used up, for every seller", async () => {
    const wallet = await fundedWallet(chain());
    const [first, second] = [await paymentScene(weSettle), await paymentScene(weSettle)];
    const pay = async (scene: typeof first) =>
      execute(scene, {
        authorizationId: (await authorized(scene)).authorizationId,
        paymentCredential: await signed(wallet, expectedOf(scene)),
      });
    const counted = await database().select().from(settlementDays).where(eq(settlementDays.organizationId, "installation"));
    process.env["SETTLEMENT_DAILY_CAP_TOTAL"] = String(Math.max(0, ...counted.map(({ settlements }) => settlements)) + 1);
    forget("env");
    expect((await pay(first)).data.settlementStatus).toBe("settled");
    const { status, problem } = await pay(second);
    delete process.env["SETTLEMENT_DAILY_CAP_TOTAL"];
    forget("env");
    expect([status, problem.code]).toEqual([429, "rate_limited"]);
  });

  test("402 for a payment that is not worth the gas, also from a seller's own server, and nothing is sent", async () => {
    const scene = await paymentScene(weSettle);
    const wallet = await fundedWallet(chain());
    const { authorizationId } = await authorized(scene);
    const paymentCredential = await signed(wallet, expectedOf(scene));
    process.env["SETTLEMENT_MINIMUM"] = "0.250001";
    forget("env");
    const { status, problem } = await execute(scene, { authorizationId, paymentCredential });
    const paymentPayload = JSON.parse(Buffer.from(paymentCredential, "base64").toString()) as { accepted: object };
    const asked = { x402Version: 2 as const, paymentPayload, paymentRequirements: paymentPayload.accepted };
    const read = await readAsked(asked, scene.sellerOrganizationId);
    const { policyDecision } = await authorized(scene);
    delete process.env["SETTLEMENT_MINIMUM"];
    forget("env");
    expect([status, problem.code]).toEqual([402, "settlement_rejected"]);
    expect(problem.detail).toContain("from 0.250001 USDC on");
    expect(problem.detail).toContain("Ask the seller");
    expect(read).toMatchObject({
      ok: false,
      code: "settlement_rejected",
      detail: expect.stringContaining("settle it yourself") as string,
    });
    expect(policyDecision).toMatchObject({ outcome: "deny", denialCode: "challenge_mismatch" });
    expect(policyDecision.reasons[0]?.message).toContain("from 0.250001 USDC on");
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(0n);
    expect((await execute(scene, { authorizationId, paymentCredential })).data.settlementStatus).toBe("settled");
  });

  test("502 when the chain does not answer: nothing is sent or recorded, and the same key works afterwards", async () => {
    const scene = await paymentScene(weSettle);
    const wallet = await fundedWallet(chain());
    const { authorizationId } = await authorized(scene);
    const request = { authorizationId, idempotencyKey: "outage", paymentCredential: await signed(wallet, expectedOf(scene)) };
    const configured = process.env["CHAINS"] ?? "";
    const useRpc = (chains: string) => {
      process.env["CHAINS"] = chains;
      forget("env", "chains/client eip155:84532");
    };
    useRpc(configured.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1"));
    const { status, problem } = await execute(scene, request);
    expect([status, problem.code, problem.retryable]).toEqual([502, "rpc_unavailable", true]);
    useRpc(configured);
    expect((await readPayment(scene, authorizationId)).data.executions).toEqual([]);
    expect((await execute(scene, request)).data.settlementStatus).toBe("settled");
  });

  test("settles a payment without a mandate even if the process that began it died", async () => {
    const scene = await paymentScene();
    const wallet = await fundedWallet(chain());
    const { credential } = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
    const seller = await authenticate(new Request("http://localhost:3000/", { headers: credential }));
    if (seller?.kind !== "key") throw new Error("A key authenticates as one.");
    const header = await signed(wallet, expectedOf(scene));
    const paymentPayload = JSON.parse(Buffer.from(header, "base64").toString()) as { accepted: object };
    const asked = await readAsked(
      { x402Version: 2, paymentPayload, paymentRequirements: paymentPayload.accepted },
      seller.organizationId,
    );
    if (!asked.ok) throw new Error(asked.detail);
    await chain().client.setAutomine(false);
    expect(await answerSettle(asked, seller)).toMatchObject({ success: false, errorReason: "settlement_pending" });
    await chain().client.mine({ blocks: 1 });
    await chain().client.setAutomine(true);
    const status = async () => (await database().select().from(plainSettlements))[0]?.status;
    expect(await status()).toBe("processing");
    await database()
      .update(plainSettlements)
      .set({ createdAt: new Date(0) });
    expect(await reconcilePlain()).toBe(1);
    expect(await status()).toBe("settled");
    expect(await chain().balanceOf(scene.seller.payTo)).toBe(250_000n);
    const again = async () => {
      const said = { x402Version: 2, paymentPayload, paymentRequirements: paymentPayload.accepted } as const;
      const repeated = await readAsked(said, seller.organizationId);
      if (!repeated.ok) throw new Error(repeated.detail);
      return answerSettle(repeated, seller);
    };
    expect(await again()).toMatchObject({ success: true });
    expect(await again()).toMatchObject({ success: false, errorReason: "invalid_exact_evm_nonce_already_used" });
  });
});
