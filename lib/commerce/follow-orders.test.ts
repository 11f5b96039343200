import { eq, sql } from "drizzle-orm";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { followOrders } from "#lib/commerce/follow-orders.ts";
import { orders } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { checkoutScene, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { brokenSums } from "#test/invariants.ts";
import { newOrderKey, place, settlesThrough, signedOrder } from "#test/orders.ts";
import { past } from "#test/past.ts";
import { newWallet, useSettlement } from "#test/payments.ts";
import { stockFacilitator } from "#test/shop.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();
const wallet = newWallet();

let shop: HostileStorefront;
let scene: CheckoutScene;
beforeAll(() => chain().mint(wallet.address, 1_000_000_000n));
beforeEach(async () => {
  shop = await openHostileStorefront();
  settlesThrough(shop, await stockFacilitator(chain()));
  scene = await checkoutScene();
});
afterEach(async () => {
  await shop.close();
  // Stop the checks of this test's open orders, or the worker would check them in the next test.
  await database().update(orders).set({ nextCheckAt: null });
  expect(await brokenSums()).toEqual([]);
});

const orderOf = async (key: string) => {
  const [order] = await database().select().from(orders).where(eq(orders.idempotencyKey, key));
  if (!order) throw new Error("There is no such order.");
  return order;
};
/** Sets the time of the order's next check to the past. */
const timePasses = (key: string) => database().update(orders).set({ nextCheckAt: past }).where(eq(orders.idempotencyKey, key));

/** Places and pays an order. After the payment, the storefront fails with `fault`. */
async function paid(fault: HostileStorefront["fault"]) {
  const key = newOrderKey();
  const first = await place(scene, shop, key);
  const paymentCredential = await signedOrder(wallet, first);
  shop.fault = fault;
  const reply = await place(scene, shop, key, { paymentCredential });
  return { key, reply };
}

describe("followOrders", () => {
  test("completes an order whose agent never calls again, and pays once", async () => {
    const before = await chain().balanceOf(wallet.address);
    const { key, reply } = await paid("paid500");
    expect(reply.data.status).toBe("processing");
    expect((await orderOf(key)).nextCheckAt).not.toBeNull();
    // The worker does nothing now, because the next check is later.
    await followOrders();
    expect((await orderOf(key)).status).toBe("processing");
    shop.fault = "clean";
    shop.settle = null;
    await timePasses(key);
    expect(await followOrders()).toBe(1);
    expect(await orderOf(key)).toMatchObject({ status: "completed", nextCheckAt: null, answer: { orderId: "order-1" } });
    expect(before - (await chain().balanceOf(wallet.address))).toBe(25_000_000n);
    expect(new Set(shop.credentials).size).toBe(1);
    const again = await place(scene, shop, key);
    expect(again.data).toMatchObject({ status: "completed", storefront: { metadata: { orderId: "order-1" } } });
  });

  test("sends the payment to a failing storefront again, at growing intervals", async () => {
    const { key } = await paid("paid500");
    await timePasses(key);
    await followOrders();
    const { status, nextCheckAt } = await orderOf(key);
    expect(status).toBe("processing");
    expect(nextCheckAt?.getTime()).toBeGreaterThan(Date.now() + 3_000);
  });

  test("ignores an order while a call of its agent runs, and an order that waits for its agent", async () => {
    const { key } = await paid("paid500");
    const leased = sql`statement_timestamp() + interval '1 minute'`;
    await database().update(orders).set({ lease: "req_other", leasedUntil: leased }).where(eq(orders.idempotencyKey, key));
    await timePasses(key);
    const sent = shop.credentials.length;
    expect(await followOrders()).toBe(1);
    expect(shop.credentials).toHaveLength(sent);
    const waiting = newOrderKey();
    await place(scene, shop, waiting);
    await timePasses(waiting);
    await followOrders();
    expect(await orderOf(waiting)).toMatchObject({ status: "paymentCredentialRequired", nextCheckAt: null });
  });

  test("sends nothing after the mandate was revoked, and the order stays in processing", async () => {
    shop.settle = null;
    const { key } = await paid("paidHangUp");
    const sent = shop.credentials.length;
    await send(mandates.revokeMandate, revokeMandate, { as: scene.person.credential, id: scene.mandateId, body: {} });
    shop.fault = "clean";
    await timePasses(key);
    await followOrders();
    expect(shop.credentials).toHaveLength(sent);
    expect((await orderOf(key)).status).toBe("processing");
  });
});
