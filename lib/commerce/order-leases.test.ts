import { eq } from "drizzle-orm";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { orders } from "#lib/approvals/tables.ts";
import * as orderContract from "#lib/commerce/order-contract.ts";
import { credentialOf, runOrder } from "#lib/commerce/run-order.ts";
import { database } from "#lib/db/client.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { activateMandate } from "#lib/mandates/lifecycle/activate-mandate.ts";
import { installedFetch, standardLimits } from "#lib/outbound/guarded-fetch.ts";
import { forget, perProcess } from "#lib/process.ts";
import { approve, checkoutScene, items, open as openPolicy, reviewed, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { brokenSums } from "#test/invariants.ts";
import { draftMandate } from "#test/mandates.ts";
import { newOrderKey, place, settlesThrough, signedOrder } from "#test/orders.ts";
import { newWallet, useSettlement } from "#test/payments.ts";
import { stockFacilitator } from "#test/shop.ts";
import { send } from "#test/tenant.ts";

useDatabase();
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

describe("a run ends before its lease", () => {
  test("a storefront that is still silent at the end of the time is unavailable, and the order can be continued", async () => {
    const { person, agent } = await checkoutScene();
    const { mandateId } = await draftMandate(person.credential, { policy: openPolicy });
    const scene = { agent, mandateId };
    const key = newOrderKey();
    expect((await place(scene, shop, key)).data.status).toBe("setupRequired");
    await send(mandates.activateMandate, activateMandate, { as: person.credential, id: mandateId });
    shop.fault = "hang";
    forget("outbound");
    perProcess("outbound", () => installedFetch({ ...standardLimits, headersMs: 600_000 }));
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
    const late = await runFor(scene, key, 0, paymentCredential);
    expect([late.data.status, shop.credentials]).toEqual(["paymentCredentialRequired", []]);
    expect((await place(scene, shop, key, { paymentCredential })).data.status).toBe("completed");
    expect(shop.credentials).toEqual([paymentCredential]);
  });
});
