import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileFacilitator, type Fault, type HostileFacilitator } from "#test/hostile-facilitator.ts";
import { brokenSums } from "#test/invariants.ts";
import {
  authorized,
  execute,
  expectedOf,
  newWallet,
  paymentScene,
  readPayment,
  signed,
  useSettlement,
  type PaymentScene,
} from "#test/payments.ts";
import { stockFacilitator } from "#test/shop.ts";

let hostile: HostileFacilitator;
beforeAll(async () => {
  hostile = await openHostileFacilitator(() => stockFacilitator(chain()));
});
useDatabase();
const chain = useSettlement({ facilitators: () => [{ url: hostile.url }], facilitatorTimeoutMs: 2_500 });
afterAll(() => hostile.close());
afterEach(async () => expect(await brokenSums()).toEqual([]));

const sellerHas = ({ seller }: PaymentScene) => chain().balanceOf(seller.payTo);

async function executed(fault: Fault) {
  hostile.fault = fault;
  const scene = await paymentScene({ settlementMode: "facilitatorSettled", facilitatorUrl: hostile.url });
  const wallet = newWallet();
  await chain().mint(wallet.address, 1_000_000n);
  const { authorizationId } = await authorized(scene);
  const paymentCredential = await signed(wallet, expectedOf(scene));
  const reply = await execute(scene, { authorizationId, paymentCredential });
  return { scene, wallet, authorizationId, reply };
}

async function lookAgain(executionId: string): Promise<string | undefined> {
  await database()
    .update(executions)
    .set({ nextCheckAt: new Date(0) })
    .where(eq(executions.executionId, executionId));
  await reconcile();
  const [row] = await database().select().from(executions).where(eq(executions.executionId, executionId));
  return row?.settlementStatus;
}

describe("if a facilitator", () => {
  test("is correct, or slow, the payment is settled", async () => {
    for (const fault of ["clean", "slow"] as const) {
      const { scene, reply } = await executed(fault);
      expect([reply.status, reply.data.settlementStatus]).toEqual([200, "settled"]);
      expect(await sellerHas(scene)).toBe(250_000n);
    }
  });

  test.each<Fault>(["errorAfterSettling", "hangUp", "refuseAfterSettling"])(
    "has the fault %s, the chain says settled",
    async (fault) => {
      const { scene, reply } = await executed(fault);
      expect([reply.status, reply.data.settlementStatus]).toEqual([200, "settled"]);
      expect(await sellerHas(scene)).toBe(250_000n);
    },
  );

  test.each<Fault>(["errorBeforeSettling", "refuse", "lie", "garbage", "pendingForEver"])(
    "has the fault %s, the payment is neither settled nor failed, the hold stays, and no new credential is accepted; after the fault it settles once",
    async (fault) => {
      const { scene, wallet, authorizationId, reply } = await executed(fault);
      expect(reply.status).toBe(200);
      expect(reply.data.settlementStatus).toBe(fault === "pendingForEver" ? "processing" : "unknown");
      expect(await sellerHas(scene)).toBe(0n);
      const again = await execute(scene, { authorizationId, paymentCredential: await signed(wallet, expectedOf(scene)) });
      expect([again.status, again.problem.code]).toEqual([409, "authorization_consumed"]);
      expect(await lookAgain(reply.data.executionId)).toBe(fault === "pendingForEver" ? "processing" : "unknown");
      if (fault === "pendingForEver") return;
      hostile.fault = "clean";
      expect(await lookAgain(reply.data.executionId)).toBe("settled");
      expect(await sellerHas(scene)).toBe(250_000n);
      expect(await chain().balanceOf(wallet.address)).toBe(750_000n);
    },
  );

  test("has the fault acceptThenTimeOut, the reply comes within the limit, and the chain says settled", async () => {
    const { scene, reply } = await executed("acceptThenTimeOut");
    expect([reply.status, reply.data.settlementStatus]).toEqual([200, "settled"]);
    expect(await sellerHas(scene)).toBe(250_000n);
  });

  test("refuses until the credential has expired, the execution fails on evidence, and the hold is released", async () => {
    const { scene, authorizationId, reply } = await executed("refuse");
    expect(reply.data.settlementStatus).toBe("unknown");
    // This test must stay the last one of the file, because it moves the chain's clock forward, and the clock cannot be turned
    // back.
    await chain().client.increaseTime({ seconds: 301 });
    await chain().client.mine({ blocks: 1 });
    expect(await lookAgain(reply.data.executionId)).toBe("failed");
    const { data } = await readPayment(scene, authorizationId);
    expect(data.executions[0]).toMatchObject({
      failureCode: "settlement_rejected",
      failureCategory: "payment_failed",
      failureActor: "network",
    });
    expect(await sellerHas(scene)).toBe(0n);
  });
});
