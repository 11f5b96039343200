import { eq, sql } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { mandateLedger, mandateSellers } from "#lib/mandates/tables.ts";
import { executions, reservations } from "#lib/holds/tables.ts";
import { forget } from "#lib/process.ts";
import { followTransactions } from "#lib/settlement/follow-transactions.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { settlementTransactions } from "#lib/settlement/tables.ts";
import { noSettlementIsStuck } from "#lib/settlement/watch-settlements.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { eventsOf } from "#test/mandates.ts";
import { past } from "#test/past.ts";
import { authorized, execute, blacklist, expectedOf, fundedWallet, paymentScene, signed, useSettlement } from "#test/payments.ts";
import { stockFacilitator } from "#test/shop.ts";
import { decodePaymentSignatureHeader } from "@x402/core/http";

useDatabase();
const chain = useSettlement({ facilitatorTimeoutMs: 1_000 });
beforeAll(() => {
  process.env["CHAINS"] = (process.env["CHAINS"] ?? "").replace('"confirmations":0', '"confirmations":1,"finality":6');
  forget("env");
});
afterEach(async () => expect(await brokenSums()).toEqual([]));

const mine = (blocks: number) => chain().client.mine({ blocks });

const aMinuteAgo = sql`statement_timestamp() - interval '1 minute'`;

/** Makes the sent transactions and open executions due, and checks both once. */
async function follow(): Promise<void> {
  await database().update(settlementTransactions).set({ nextCheckAt: past }).where(eq(settlementTransactions.status, "sent"));
  await followTransactions();
  await database()
    .update(executions)
    .set({ nextCheckAt: past })
    .where(sql`next_check_at IS NOT NULL`);
  await reconcile();
}

/** Runs the work, and returns a function that removes the blocks which were mined since its start. */
async function reorganize(work: () => Promise<void>) {
  const snapshot = await chain().client.snapshot();
  await work();
  return () => chain().client.revert({ id: snapshot });
}

async function payment(settlementMode: "offchainAuthorized" | "facilitatorSettled") {
  const scene = await paymentScene({ settlementMode });
  const wallet = await fundedWallet(chain());
  await mine(8);
  const { authorizationId } = await authorized(scene);
  const paymentCredential = await signed(wallet, expectedOf(scene));
  const pay = () => execute(scene, { authorizationId, paymentCredential });
  const state = async () => {
    const [execution] = await database().select().from(executions).where(eq(executions.authorizationId, authorizationId));
    const [hold] = await database().select().from(reservations).where(eq(reservations.authorizationId, authorizationId));
    const captures = await database()
      .select()
      .from(mandateLedger)
      .where(sql`authorization_id = ${authorizationId} AND kind = 'capture'`);
    const before = await database().select().from(mandateSellers).where(eq(mandateSellers.mandateId, scene.mandateId));
    const { settlementStatus } = execution!;
    return { settlementStatus, hold: hold!.status, captures: captures.length, paidBefore: before.length > 0 };
  };
  const events = async () => {
    const [execution] = await database().select().from(executions).where(eq(executions.authorizationId, authorizationId));
    return (await eventsOf(execution!.executionId)).map(({ type }) => type);
  };
  const balance = () => chain().balanceOf(scene.seller.payTo);
  return { wallet, pay, paymentCredential, state, events, balance };
}

const confirmed = { settlementStatus: "settled", hold: "submitted", captures: 0, paidBefore: false };
const final = { settlementStatus: "settled", hold: "captured", captures: 1, paidBefore: true };

describe("a settled payment", () => {
  test("is charged, and its payee counts as paid before, once it is final on the chain", async () => {
    const { pay, state, events } = await payment("facilitatorSettled");
    await pay();
    await mine(1);
    await follow();
    expect(await state()).toEqual(confirmed);
    await follow();
    expect(await state()).toEqual(confirmed);
    await mine(6);
    await follow();
    expect(await state()).toEqual(final);
    const types = ["payment.submitted", "payment.settled", "payment.finalized"];
    expect(await events()).toEqual(types);
    await database().update(executions).set({ nextCheckAt: past });
    await reconcile();
    expect(await state()).toEqual(final);
    expect(await events()).toEqual(types);
  });

  test("that a reorganization removes is processing again, and is settled once by the same transaction", async () => {
    const { pay, state, events, balance } = await payment("facilitatorSettled");
    const takeBack = await reorganize(async () => {
      await pay();
      await mine(1);
      await follow();
      expect(await state()).toEqual(confirmed);
    });
    await takeBack();
    await mine(2);
    expect(await balance()).toBe(0n);
    await database()
      .update(executions)
      .set({ nextCheckAt: past })
      .where(sql`next_check_at IS NOT NULL`);
    await reconcile();
    expect(await state()).toEqual({ ...confirmed, settlementStatus: "processing" });
    expect((await events()).at(-1)).toBe("payment.reorganized");
    await follow();
    await mine(1);
    await follow();
    expect(await state()).toEqual(confirmed);
    await mine(6);
    await follow();
    expect(await state()).toEqual(final);
    expect(await balance()).toBe(250_000n);
  });

  test("whose transaction is reverted keeps its hold, because a reorganization could still mine the transfer", async () => {
    const { wallet, pay, state } = await payment("facilitatorSettled");
    await chain().client.setAutomine(false);
    const paying = pay();
    const pending = async () => (await chain().client.getTxpoolStatus()).pending;
    await expect.poll(pending).toBe(1);
    await blacklist(chain(), wallet.address, 50_000_000_000n);
    await mine(3);
    await chain().client.setAutomine(true);
    expect((await paying).data.settlementStatus).toBe("processing");
    await follow();
    expect(await state()).toMatchObject({ settlementStatus: "processing", hold: "submitted" });
  });

  test("that a reorganization removes is not stuck at once if its transaction is signed again", async () => {
    const { pay, balance } = await payment("facilitatorSettled");
    const takeBack = await reorganize(async () => {
      await pay();
      await mine(1);
      await follow();
    });
    await takeBack();
    await database()
      .update(settlementTransactions)
      .set({ sentAt: aMinuteAgo, waitingSince: aMinuteAgo })
      .where(eq(settlementTransactions.status, "sent"));
    await chain().client.setAutomine(false);
    await follow();
    await chain().client.setAutomine(true);
    const anew = sql`status = 'sent' AND block_number IS NULL AND earlier_hashes <> '{}'`;
    expect(await database().select().from(settlementTransactions).where(anew)).toHaveLength(1);
    expect(await noSettlementIsStuck()).toBe(true);
    await mine(8);
    await follow();
    expect([await balance(), await noSettlementIsStuck()]).toEqual([250_000n, true]);
  });

  test("that its seller settled is pending again, and fails if nobody settles it again", async () => {
    const { pay, paymentCredential, state, balance } = await payment("offchainAuthorized");
    await pay();
    const takeBack = await reorganize(async () => {
      const payload = decodePaymentSignatureHeader(paymentCredential);
      await (await stockFacilitator(chain())).settle(payload, payload.accepted);
      await mine(1);
      await follow();
      expect(await state()).toEqual(confirmed);
    });
    await takeBack();
    await mine(2);
    await follow();
    expect(await state()).toEqual({ ...confirmed, settlementStatus: "pending" });
    // This test must stay the last one of the file, because it moves the chain's clock forward, and the clock cannot be turned
    // back.
    await chain().client.increaseTime({ seconds: 900 });
    await mine(4);
    await follow();
    // The signed payment has expired in the newest block, but a reorganization could still mine the transfer in an earlier block.
    expect(await state()).toEqual({ ...confirmed, settlementStatus: "pending" });
    await mine(6);
    await follow();
    expect(await state()).toEqual({ settlementStatus: "failed", hold: "released", captures: 0, paidBefore: false });
    expect(await balance()).toBe(0n);
  });
});
