import { eq, sql } from "drizzle-orm";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkoutApprovals, checkoutIntents, orders } from "#lib/approvals/tables.ts";
import * as orderContract from "#lib/commerce/order-contract.ts";
import { leaseOrder } from "#lib/commerce/order/order-store.ts";
import { credentialOf, runOrder } from "#lib/commerce/order/run-order.ts";
import { database } from "#lib/db/client.ts";
import { reservations } from "#lib/holds/tables.ts";
import { installedFetch, standardLimits } from "#lib/outbound/guarded-fetch.ts";
import { authorizeQueue } from "#lib/payments/authorize-payment.ts";
import { forget, perProcess } from "#lib/process.ts";
import {
  approve,
  checkoutScene,
  items,
  open as openPolicy,
  previewed,
  read,
  reviewed,
  type CheckoutScene,
} from "#test/checkouts.ts";
import { activate } from "#test/mandate-steps.ts";
import { proved } from "#test/proofs.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { brokenSums } from "#test/invariants.ts";
import { draftMandate } from "#test/mandates.ts";
import { goOn, newOrderKey, place, settlesThrough, signedOrder, untilOver } from "#test/orders.ts";
import { newWallet, useSettlement } from "#test/payments.ts";
import { stockFacilitator } from "#test/shop.ts";
import { send } from "#test/tenant.ts";

const databaseOf = useDatabase();
const chain = useSettlement();
const wallet = newWallet();

let shop: HostileStorefront;
beforeAll(() => chain().mint(wallet.address, 1_000_000_000n));
beforeEach(async () => {
  shop = await openHostileStorefront();
  settlesThrough(shop, await stockFacilitator(chain()));
});
afterEach(async () => {
  await shop.close();
  expect(await brokenSums()).toEqual([]);
});

async function orderOf(key: string) {
  const [order] = await database().select().from(orders).where(eq(orders.idempotencyKey, key));
  if (!order) throw new Error("There is no such order.");
  return order;
}

type Scene = Pick<CheckoutScene, "agent" | "mandateId">;

/** Runs the stored order with this many milliseconds for its steps. */
const runFor = ({ agent, mandateId }: Scene, key: string, stepsMs: number, paymentCredential?: string) =>
  send(
    orderContract.placeOrder,
    async (_, { caller, requestId, request }) =>
      runOrder(
        await orderOf(key),
        { caller, requestId, request, credential: credentialOf(paymentCredential), url: shop.url },
        stepsMs,
      ),
    { as: agent.credential, body: { storefrontUrl: shop.url, mandateId, items, idempotencyKey: key } },
  );

/** Lets the shop take any time, so that no request to it is repeated. */
function waitForShop(): void {
  forget("outbound/guarded-fetch");
  perProcess("outbound/guarded-fetch", () => installedFetch({ ...standardLimits, headersMs: 600_000, bodyMs: 600_000 }));
}

describe("a run ends before its lease", () => {
  test("a storefront that is still silent at the end of the time is unavailable, and the order can be continued", async () => {
    const { person, agent } = await checkoutScene();
    const { mandateId } = await draftMandate(person.credential, { policy: openPolicy });
    const scene = { agent, mandateId };
    const key = newOrderKey();
    expect((await place(scene, shop, key)).data.status).toBe("setupRequired");
    await proved(person.credential, () => activate(person.credential, mandateId));
    shop.fault = "hang";
    waitForShop();
    const late = await runFor(scene, key, 200);
    expect([late.status, late.problem.code]).toEqual([424, "storefront_unavailable"]);
    expect(await orderOf(key)).toMatchObject({ status: "setupRequired", leasedUntil: null });
    shop.fault = "clean";
    expect((await place(scene, shop, key)).data.status).toBe("paymentCredentialRequired");
  });

  test("no step begins after the time: the approval is used, and the next call pays", async () => {
    const scene = await checkoutScene({ mandate: { policy: { ...openPolicy, approval: { mode: "always" } } } });
    const approved = async () => {
      const key = newOrderKey();
      const checkoutIntentId = (await place(scene, shop, key)).data.nextAction.url?.split("/").at(-1) ?? "";
      await reviewed(checkoutIntentId, scene.person);
      await approve(checkoutIntentId, scene.person.credential);
      return key;
    };
    const paymentCredential = await signedOrder(wallet, await place(scene, shop, await approved()));
    const key = await approved();
    waitForShop();
    const late = await runFor(scene, key, 0, paymentCredential);
    expect([late.data.status, shop.credentials]).toEqual(["paymentCredentialRequired", []]);
    expect((await untilOver(() => place(scene, shop, key, { paymentCredential }))).data.status).toBe("completed");
    expect(shop.credentials).toEqual([paymentCredential]);
  });
});

describe("a call that loses its lease before it decides", () => {
  const holds = async ({ mandateId }: Scene) =>
    (await database().select().from(reservations).where(eq(reservations.mandateId, mandateId))).map(({ status }) => status);
  const another = { lease: "req_other", leasedUntil: sql`statement_timestamp() + interval '1 minute'` };
  const takeLease = (key: string) => database().update(orders).set(another).where(eq(orders.idempotencyKey, key));
  const endLease = (key: string) => database().update(orders).set({ leasedUntil: null }).where(eq(orders.idempotencyKey, key));

  /** Runs the work when the storefront's checkout is asked in the call, before it answers. */
  async function during<T>(call: () => Promise<T>, work: () => Promise<unknown>): Promise<T> {
    shop.beforeAnswer = (path) => (path === "/agent/checkout" ? work() : Promise.resolve());
    const reply = await call();
    shop.beforeAnswer = null;
    return reply;
  }

  test("reserves nothing, and the next call decides and pays the order", async () => {
    const scene = await checkoutScene();
    const key = newOrderKey();
    const lost = await during(
      () => place(scene, shop, key),
      () => takeLease(key),
    );
    expect([lost.status, lost.problem.code]).toEqual([409, "idempotency_in_flight"]);
    expect(await holds(scene)).toEqual([]);
    await endLease(key);
    const first = await place(scene, shop, key);
    expect(first.data.status).toBe("paymentCredentialRequired");
    expect(await holds(scene)).toEqual(["held"]);
    const paymentCredential = await signedOrder(wallet, first);
    expect((await untilOver(() => place(scene, shop, key, { paymentCredential }))).data.status).toBe("completed");
    expect(await holds(scene)).toEqual(["captured"]);
  });

  test("that a clock that ran ahead has made too long reserves nothing: the next call takes the order, and one amount is held", async () => {
    const scene = await checkoutScene();
    const key = newOrderKey();
    const take = async (until: string) => {
      const leasedUntil = sql`statement_timestamp() + ${until}::interval`;
      await database().update(orders).set({ leasedUntil }).where(eq(orders.idempotencyKey, key));
      return leaseOrder(database(), (await orderOf(key)).orderId, "req_other", 90_000);
    };
    let taken: unknown[] = [];
    const lost = await during(
      () => place(scene, shop, key),
      async () => (taken = [await take("90 seconds"), (await take("2 hours"))?.lease]),
    );
    expect([...taken, lost.problem.code]).toEqual([null, "req_other", "idempotency_in_flight"]);
    expect(await holds(scene)).toEqual([]);
    await endLease(key);
    expect((await place(scene, shop, key)).data.status).toBe("paymentCredentialRequired");
    expect(await holds(scene)).toEqual(["held"]);
  });

  test("that was taken while a call waited 3 seconds for the order is kept, although it ends late for that call", async () => {
    const scene = await checkoutScene();
    const key = newOrderKey();
    await place(scene, shop, key);
    const { orderId } = await orderOf(key);
    const locked = Promise.withResolvers<void>();
    const other = database().transaction(async (tx) => {
      await tx.select().from(orders).where(eq(orders.orderId, orderId)).for("update");
      locked.resolve();
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await tx
        .update(orders)
        .set({ leasedUntil: sql`statement_timestamp() + interval '90 seconds'` })
        .where(eq(orders.orderId, orderId));
    });
    await locked.promise;
    expect(await leaseOrder(database(), orderId, "req_other", 90_000)).toBeNull();
    await other;
  });

  test("reserves nothing if the order was deleted meanwhile, and the key can be used again", async () => {
    const scene = await checkoutScene();
    const key = newOrderKey();
    const lost = await during(
      () => place(scene, shop, key),
      () => database().delete(orders).where(eq(orders.idempotencyKey, key)),
    );
    expect([lost.status, lost.problem.code]).toEqual([409, "idempotency_in_flight"]);
    expect(await holds(scene)).toEqual([]);
    expect((await place(scene, shop, key)).data.status).toBe("paymentCredentialRequired");
    expect(await holds(scene)).toEqual(["held"]);
  });

  test("does not stop the other payments of its batch", async () => {
    const scene = await checkoutScene();
    const row = await hold(databaseOf().url, `SELECT FROM mandates WHERE mandate_id = '${scene.mandateId}' FOR UPDATE`);
    const before = place(scene, shop, newOrderKey());
    await row.blocks();
    const lost = newOrderKey();
    const asked = [place(scene, shop, lost), place(scene, shop, newOrderKey())];
    await expect.poll(() => authorizeQueue().depth).toBe(2);
    await takeLease(lost);
    await row.release();
    const replies = await Promise.all([before, ...asked]);
    expect(replies.map(({ status, data, problem }) => (status === 200 ? data.status : problem.code))).toEqual([
      "paymentCredentialRequired",
      "idempotency_in_flight",
      "paymentCredentialRequired",
    ]);
    expect(await holds(scene)).toEqual(["held", "held"]);
  });

  test("uses no approval, and the next call pays what was approved", async () => {
    const scene = await checkoutScene();
    const checkoutIntentId = await previewed(shop, scene.agent.credential);
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    const token = (await read(checkoutIntentId, scene.agent.credential)).data.continuationToken ?? "";
    await database()
      .update(checkoutIntents)
      .set({ quoteExpiresAt: sql`statement_timestamp()` })
      .where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId));
    const key = newOrderKey();
    const lost = await during(
      () => goOn(scene, checkoutIntentId, token, key),
      () => takeLease(key),
    );
    expect([lost.status, lost.problem.code]).toEqual([409, "idempotency_in_flight"]);
    const [approval] = await database()
      .select()
      .from(checkoutApprovals)
      .where(eq(checkoutApprovals.checkoutIntentId, checkoutIntentId));
    expect(approval).toMatchObject({ status: "pending", continuationTokenStatus: "active" });
    await endLease(key);
    const first = await goOn(scene, checkoutIntentId, token, key);
    expect(first.data.status).toBe("paymentCredentialRequired");
    const paymentCredential = await signedOrder(wallet, first);
    expect((await untilOver(() => goOn(scene, checkoutIntentId, token, key, { paymentCredential }))).data.status).toBe(
      "completed",
    );
    expect(await holds(scene)).toEqual(["captured"]);
  });
});
