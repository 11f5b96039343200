import { eq } from "drizzle-orm";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkoutApprovals, orders } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { reservations } from "#lib/holds/tables.ts";
import { approve, cancel, checkoutScene, previewed, read, reviewed, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newKey } from "#test/identity.ts";
import { brokenSums } from "#test/invariants.ts";
import { goOn, newOrderKey, settlesThrough, signedOrder, untilOver } from "#test/orders.ts";
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
  expect(await brokenSums()).toEqual([]);
});

const holds = async () =>
  (await database().select().from(reservations).where(eq(reservations.mandateId, scene.mandateId))).map(({ status }) => status);

/** Makes a checkout that the buyer has approved, and returns the agent's continuation token. */
async function approved() {
  const checkoutIntentId = await previewed(shop, scene.agent.credential);
  await reviewed(checkoutIntentId, scene.person);
  const { status, problem } = await approve(checkoutIntentId, scene.person.credential);
  if (status !== 200) throw new Error(JSON.stringify(problem));
  const { data } = await read(checkoutIntentId, scene.agent.credential);
  return { checkoutIntentId, token: data.continuationToken ?? "" };
}

describe("continueCheckout", () => {
  test("uses the token once, and a repeat with the same key continues the order", async () => {
    const { checkoutIntentId, token } = await approved();
    expect(await holds()).toEqual(["held"]);
    const key = newOrderKey();
    const first = await goOn(scene, checkoutIntentId, token, key);
    expect(first.data).toMatchObject({
      status: "paymentCredentialRequired",
      quote: { quoteId: "q-1", amount: "25", items: [{ productId: "tee", totalAmount: "25" }] },
      storefront: { seller: { domain: shop.domain } },
      authorization: { policyDecision: { outcome: "allow" } },
    });
    expect((await goOn(scene, checkoutIntentId, token, key)).data).toEqual(first.data);
    const other = await goOn(scene, checkoutIntentId, token, newOrderKey());
    expect([other.status, other.problem.code]).toEqual([410, "continuation_expired"]);
    const paymentCredential = await signedOrder(wallet, first);
    const paid = await untilOver(() => goOn(scene, checkoutIntentId, token, key, { paymentCredential }));
    expect(paid.data).toMatchObject({ status: "completed", storefront: { metadata: { orderId: "order-1" } } });
    expect(await holds()).toEqual(["captured"]);
    const { data } = await read(checkoutIntentId, scene.agent.credential);
    expect(data.intent.status).toBe("completed");
    expect(data.approval).toMatchObject({ status: "consumed", continuationTokenStatus: "redeemed" });
  });

  test("10 parallel calls with the same token and different keys make one order", async () => {
    const { checkoutIntentId, token } = await approved();
    const replies = await Promise.all(Array.from({ length: 10 }, () => goOn(scene, checkoutIntentId, token, newOrderKey())));
    const codes = replies.map(({ status, data, problem }) => (status === 200 ? data.status : problem.code)).toSorted();
    expect(codes.filter((code) => code === "paymentCredentialRequired").length).toBe(1);
    expect(new Set(codes)).toEqual(new Set(["continuation_expired", "paymentCredentialRequired"]));
    expect(await holds()).toEqual(["held"]);
    const open = await database().select().from(orders).where(eq(orders.checkoutIntentId, checkoutIntentId));
    expect(open.map(({ status }) => status)).toEqual(["paymentCredentialRequired"]);
  });

  test("410 for a token that is unknown, expired or revoked", async () => {
    const { checkoutIntentId, token } = await approved();
    const unknown = await goOn(scene, checkoutIntentId, `${token.slice(0, -4)}AAAA`, newOrderKey());
    expect([unknown.status, unknown.problem.code]).toEqual([410, "continuation_expired"]);
    await database()
      .update(checkoutApprovals)
      .set({ expiresAt: new Date(Date.now() - 1_000) })
      .where(eq(checkoutApprovals.checkoutIntentId, checkoutIntentId));
    const late = await goOn(scene, checkoutIntentId, token, newOrderKey());
    expect([late.status, late.problem.code]).toEqual([410, "continuation_expired"]);
    const another = await approved();
    await cancel(another.checkoutIntentId, scene.agent.credential);
    const canceled = await goOn(scene, another.checkoutIntentId, another.token, newOrderKey());
    expect([canceled.status, canceled.problem.code]).toEqual([410, "continuation_expired"]);
  });

  test("409 for a token of another checkout or another agent", async () => {
    const one = await approved();
    const items = [{ productId: "tee", variantId: "tee-m", quantity: 1 }];
    const other = await previewed(shop, scene.agent.credential, { items });
    const crossed = await goOn(scene, other, one.token, newOrderKey());
    expect([crossed.status, crossed.problem.code]).toEqual([409, "approval_basket_mismatch"]);
    const colleague = await newKey(scene.person);
    const stolen = await goOn({ agent: colleague }, one.checkoutIntentId, one.token, newOrderKey());
    expect([stolen.status, stolen.problem.code]).toEqual([409, "approval_basket_mismatch"]);
    expect(await holds()).toEqual(["held"]);
  });

  test("a mandate that was suspended after the approval denies, and the reserved amount is released", async () => {
    const { checkoutIntentId, token } = await approved();
    await send(mandates.suspendMandate, suspendMandate, { as: scene.person.credential, id: scene.mandateId, body: {} });
    const denied = await goOn(scene, checkoutIntentId, token, newOrderKey());
    expect(denied.data).toMatchObject({ status: "denied", authorization: { policyDecision: { outcome: "deny" } } });
    expect(await holds()).toEqual(["released"]);
  });
});
