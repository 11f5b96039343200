import { eq, sql } from "drizzle-orm";
import { afterEach, beforeAll, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { mandateLedger } from "#lib/mandates/tables.ts";
import { executions, reservations } from "#lib/holds/tables.ts";
import { relay } from "#lib/onchain/relay/relay-worker.ts";
import { registrationSlots } from "#lib/onchain/tables.ts";
import { forget } from "#lib/process.ts";
import { freeNonceSlots } from "#lib/settlement/free-nonce-slots.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { eventsOf } from "#test/mandates.ts";
import { past } from "#test/past.ts";
import { authorized, execute, useSettlement } from "#test/payments.ts";
import { registeredScene, useContracts } from "#test/registered.ts";
import { fundSenders, makeDue } from "#test/relays.ts";
import { MODULE } from "#test/smart-account.ts";

useDatabase();
const chain = useSettlement({ facilitatorTimeoutMs: 1_000 });
const contracts = useContracts(chain);
beforeAll(async () => {
  await fundSenders(chain());
  process.env["CHAINS"] = (process.env["CHAINS"] ?? "").replace('"confirmations":0', '"confirmations":1,"finality":6');
  forget("env");
});
afterEach(async () => expect(await brokenSums()).toEqual([]));

const mine = (blocks: number) => chain().client.mine({ blocks });

/** Makes the sent transactions and open executions due, and checks both once. */
async function follow(): Promise<void> {
  await makeDue();
  await relay();
  await database()
    .update(executions)
    .set({ nextCheckAt: past })
    .where(sql`next_check_at IS NOT NULL`);
  await reconcile();
}

async function payment() {
  const scene = await registeredScene(chain(), contracts(), { terms: { enforcementPath: MODULE } });
  await mine(8);
  const { authorizationId } = await authorized(scene, { enforcementPath: "onchain" });
  const pay = () => execute(scene, { authorizationId });
  const ofIt = (table: typeof executions | typeof reservations | typeof registrationSlots) =>
    eq(table.authorizationId, authorizationId);
  const state = async () => {
    const [execution] = await database().select().from(executions).where(ofIt(executions));
    const [hold] = await database().select().from(reservations).where(ofIt(reservations));
    const [slot] = await database().select().from(registrationSlots).where(ofIt(registrationSlots));
    const captures = await database()
      .select()
      .from(mandateLedger)
      .where(sql`authorization_id = ${authorizationId} AND kind = 'capture'`);
    const events = (await eventsOf(execution!.executionId)).map(({ type }) => type);
    return {
      settlementStatus: execution!.settlementStatus,
      hold: hold!.status,
      slot: slot!.status,
      captures: captures.length,
      last: events.at(-1),
    };
  };
  return { pay, state, balance: () => chain().balanceOf(scene.seller.payTo) };
}

const confirmed = { settlementStatus: "settled", hold: "submitted", slot: "held", captures: 0, last: "payment.settled" };

test("a payment by the module is charged once it is final on the chain", async () => {
  const { pay, state } = await payment();
  await pay();
  await mine(1);
  await follow();
  expect(await state()).toEqual(confirmed);
  await follow();
  expect(await state()).toEqual(confirmed);
  await mine(6);
  await follow();
  const final = { settlementStatus: "settled", hold: "captured", slot: "used", captures: 1, last: "payment.finalized" };
  expect(await state()).toEqual(final);
  await follow();
  expect(await state()).toEqual(final);
});

// This test must stay the last one of the file, because it moves the chain's clock forward.
test("a payment by the module that a reorganization removes is processing again, and fails uncharged after its deadline", async () => {
  const { pay, state, balance } = await payment();
  const id = await chain().client.snapshot();
  await pay();
  await mine(1);
  await follow();
  expect(await state()).toEqual(confirmed);
  await chain().client.revert({ id });
  await mine(2);
  expect(await balance()).toBe(0n);
  await follow();
  const again = { ...confirmed, settlementStatus: "processing", last: "payment.reorganized" };
  expect(await state()).toEqual(again);
  await chain().client.increaseTime({ seconds: 900 });
  await mine(4);
  await follow();
  // The deadline has passed in the newest block, but a reorganization could still mine the payment in an earlier block.
  expect(await state()).toEqual(again);
  await mine(6);
  await follow();
  expect(await state()).toMatchObject({ settlementStatus: "failed", hold: "released", captures: 0, last: "payment.failed" });
  await database()
    .update(registrationSlots)
    .set({ validBefore: new Date(Date.now() - 60_000) });
  expect(await freeNonceSlots()).toBe(1);
  expect([await balance(), (await state()).slot]).toEqual([0n, "free"]);
});
