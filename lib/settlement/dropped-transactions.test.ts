import { eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Hex } from "viem";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { checkReadinessOfService } from "#lib/health/check-readiness-of-service.ts";
import * as health from "#lib/health/contract.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { underLease } from "#lib/onchain/relay-lease-store.ts";
import { relayLeases } from "#lib/onchain/tables.ts";
import { executions } from "#lib/holds/tables.ts";
import { forget } from "#lib/process.ts";
import { followTransactions } from "#lib/settlement/follow-transactions.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { settlementTransactions } from "#lib/settlement/tables.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";
import { watchSettlements } from "#lib/settlement/watch-settlements.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN } from "#test/mandates.ts";
import { past } from "#test/past.ts";
import { authorized, execute, expectedOf, newWallet, paymentScene, signed, useSettlement } from "#test/payments.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement({ facilitatorTimeoutMs: 1_500 });

/** Makes each sent transaction due and its signature `seconds` older, and checks the transactions once. */
async function follow(seconds = 0): Promise<void> {
  await database()
    .update(settlementTransactions)
    .set({
      sentAt: sql`sent_at - ${seconds} * interval '1 second'`,
      waitingSince: sql`waiting_since - ${seconds} * interval '1 second'`,
      nextCheckAt: past,
    })
    .where(eq(settlementTransactions.status, "sent"));
  await followTransactions();
}

async function paid() {
  const scene = await paymentScene({ settlementMode: "facilitatorSettled" });
  const wallet = newWallet();
  const { authorizationId } = await authorized(scene);
  const paymentCredential = signed(wallet, expectedOf(scene));
  await chain().mint(wallet.address, 1_000_000n);
  const pay = async () => (await execute(scene, { authorizationId, paymentCredential: await paymentCredential })).data;
  const balance = () => chain().balanceOf(scene.seller.payTo);
  return { pay, balance };
}

async function withoutMining<T>(work: () => Promise<T>): Promise<T> {
  await chain().client.setAutomine(false);
  onTestFinished(() => chain().client.setAutomine(true));
  return work();
}

async function statusOf(executionId: string): Promise<string | undefined> {
  await database()
    .update(executions)
    .set({ nextCheckAt: new Date(0) })
    .where(eq(executions.executionId, executionId));
  await reconcile();
  const [row] = await database().select().from(executions).where(eq(executions.executionId, executionId));
  return row?.settlementStatus;
}

const rowOf = async (hash: string) =>
  (
    await database()
      .select()
      .from(settlementTransactions)
      .where(sql`hash = ${hash} OR ${hash} = ANY (earlier_hashes)`)
  )[0]!;

/** A minute ago, which is before the newest block too; that block's time stands still while the chain mines nothing. */
const longPast = sql`statement_timestamp() - interval '1 minute'`;
const drop = (hash: string) => chain().client.dropTransaction({ hash: hash as Hex });
const mine = () => chain().client.mine({ blocks: 1 });

beforeEach(async () => {
  await follow();
  await database().delete(settlementTransactions);
});

describe("a transaction that the chain dropped", () => {
  test("is sent again with the same bytes, and does not delay others", async () => {
    const [first, second] = [await paid(), await paid()];
    const lost = await withoutMining(first.pay);
    expect(lost.settlementStatus).toBe("processing");
    await drop(lost.settlementReference!);
    const next = await second.pay();
    await mine();
    expect(await Promise.all([first.balance(), second.balance()])).toEqual([0n, 0n]);
    await follow();
    await mine();
    expect(await Promise.all([first.balance(), second.balance()])).toEqual([250_000n, 250_000n]);
    expect(await statusOf(lost.executionId)).toBe("settled");
    expect(await statusOf(next.executionId)).toBe("settled");
    await follow();
    expect(await rowOf(lost.settlementReference!)).toMatchObject({ status: "mined", rawTransaction: null, earlierHashes: [] });
  });

  test("because of a reorganization is sent again", async () => {
    const { pay, balance } = await paid();
    const snapshot = await chain().client.snapshot();
    const { settlementReference } = await pay();
    expect(await balance()).toBe(250_000n);
    await chain().client.revert({ id: snapshot });
    expect(await balance()).toBe(0n);
    await follow();
    expect(await balance()).toBe(250_000n);
    await follow();
    expect(await rowOf(settlementReference!)).toMatchObject({ status: "mined" });
  });

  test("is replaced with higher fees if it delays the others, and readiness and a metric show it", async () => {
    const { pay, balance } = await paid();
    const { settlementReference: hash } = await withoutMining(pay);
    const before = await rowOf(hash!);
    await follow(21);
    const after = await rowOf(hash!);
    expect(after).toMatchObject({ status: "sent", nonce: before.nonce, earlierHashes: [hash] });
    expect(after.maxFeePerGas * 8n >= before.maxFeePerGas * 9n).toBe(true);
    const settlements = async () => {
      forget("health/probes");
      const { data } = await send(health.checkReadinessOfService, checkReadinessOfService);
      return data.checks.find(({ name }) => name === "settlements")?.status;
    };
    expect(await settlements()).toBe("degraded");
    await watchSettlements();
    expect(await metrics().registry.metrics()).toMatch(/countersign_settlement_waiting_seconds\{chain="eip155:84532"\} 2[1-9]/);
    await mine();
    await follow();
    expect(await balance()).toBe(250_000n);
    expect(await rowOf(hash!)).toMatchObject({ status: "mined", hash: after.hash });
    expect(await settlements()).toBe("ready");
  });

  test("gives its nonce to the next transaction after its payment has expired", async () => {
    const [first, second] = [await paid(), await paid()];
    const { settlementReference: hash } = await withoutMining(first.pay);
    await drop(hash!);
    await database().update(settlementTransactions).set({ validBefore: longPast });
    const { nonce } = await rowOf(hash!);
    await follow();
    expect(await rowOf(hash!)).toMatchObject({ status: "dropped", rawTransaction: null });
    const { settlementReference } = await second.pay();
    expect((await rowOf(settlementReference!)).nonce).toBe(nonce);
    await mine();
    expect(await second.balance()).toBe(250_000n);
  });

  test("waits with its nonce while only this service's clock says that its payment has expired", async () => {
    const before = process.env["CHAINS"];
    const configure = (chains: string | undefined): void => {
      process.env["CHAINS"] = chains;
      forget("env", `chains/client ${CHAIN}`);
    };
    configure(JSON.stringify(env().CHAINS.map((one) => ({ ...one, confirmations: 1 }))));
    onTestFinished(() => configure(before));
    const { pay } = await paid();
    const { settlementReference: hash } = await withoutMining(pay);
    await drop(hash!);
    await database()
      .update(settlementTransactions)
      .set({ validBefore: sql`statement_timestamp() - interval '100 ms'` });
    await follow();
    expect(await rowOf(hash!)).toMatchObject({ status: "sent" });
    expect(await chain().client.getTxpoolStatus()).toMatchObject({ pending: 0 });
    await chain().client.setNextBlockTimestamp({ timestamp: BigInt(Math.ceil(Date.now() / 1_000)) });
    await mine();
    await follow();
    expect(await rowOf(hash!)).toMatchObject({ status: "dropped" });
  });

  test("leaves no gap in the nonces of the transactions that wait", async () => {
    const [first, second] = [await paid(), await paid()];
    const { settlementReference: hash } = await withoutMining(first.pay);
    await drop(hash!);
    const { executionId } = await second.pay();
    await database().update(settlementTransactions).set({ validBefore: longPast }).where(eq(settlementTransactions.hash, hash!));
    await follow(4);
    await mine();
    expect(await second.balance()).toBe(250_000n);
    expect(await statusOf(executionId)).toBe("settled");
  });

  test("gets another nonce if the key used its nonce elsewhere", async () => {
    const { pay, balance } = await paid();
    const { settlementReference: hash } = await withoutMining(pay);
    const { nonce } = await rowOf(hash!);
    await drop(hash!);
    await chain().client.sendTransaction({ account: settlementAccount(), to: newWallet().address, nonce });
    await mine();
    await follow(16);
    expect(await rowOf(hash!)).toMatchObject({ status: "sent", nonce: nonce + 1, earlierHashes: [hash] });
    await mine();
    expect(await balance()).toBe(250_000n);
  });
});

describe("the settlement key", () => {
  test("is leased: while one process handles its transactions, others ignore them until the lease ends", async () => {
    const { pay } = await paid();
    const { settlementReference: hash } = await withoutMining(pay);
    await database().update(relayLeases).set({ expiresAt: past });
    const held = await underLease(CHAIN, "settlement", async () => {
      await drop(hash!);
      await follow();
      return (await chain().client.getTxpoolStatus()).pending;
    });
    expect(held).toBe(0);
    await follow();
    await expect.poll(async () => (await chain().client.getTxpoolStatus()).pending).toBe(1);
    await mine();
  });

  test("signs nothing twice: the same call returns the waiting transaction", async () => {
    const { pay, balance } = await paid();
    const { executionId } = await withoutMining(pay);
    await database().update(executions).set({ settlementReference: null }).where(eq(executions.executionId, executionId));
    expect(await statusOf(executionId)).toBe("processing");
    expect(await database().select().from(settlementTransactions)).toHaveLength(1);
    await mine();
    expect(await balance()).toBe(250_000n);
  });
});
