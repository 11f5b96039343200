import { eq } from "drizzle-orm";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { orders } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { executions, reservations } from "#lib/holds/tables.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { checkoutScene, open, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront, type StorefrontFault } from "#test/hostile-storefront.ts";
import { brokenSums } from "#test/invariants.ts";
import { newOrderKey, place, settlesThrough, signedOrder } from "#test/orders.ts";
import { past } from "#test/past.ts";
import { newWallet, useSettlement } from "#test/payments.ts";
import { stockFacilitator } from "#test/shop.ts";

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
const balance = () => chain().balanceOf(wallet.address);

const refused: [StorefrontFault, number, string][] = [
  ["anotherDomain", 424, "storefront_invalid"],
  ["linksElsewhere", 424, "storefront_invalid"],
  ["decimals", 424, "storefront_invalid"],
  ["tokenName", 424, "storefront_invalid"],
  ["tokenAddress", 424, "storefront_invalid"],
  ["unknownChain", 422, "chain_unsupported"],
  ["manifest500", 424, "storefront_unavailable"],
  ["hang", 424, "storefront_unavailable"],
  ["html", 424, "storefront_invalid"],
  ["redirectInward", 424, "storefront_invalid"],
  ["huge", 424, "storefront_invalid"],
  ["slow", 424, "storefront_invalid"],
  ["soldOut", 409, "out_of_stock"],
  ["quote500", 424, "storefront_unavailable"],
  ["quoteHang", 424, "storefront_unavailable"],
  ["quantity", 424, "storefront_invalid"],
  ["anotherProduct", 424, "storefront_invalid"],
  ["sum", 424, "storefront_invalid"],
  ["fraction", 424, "storefront_invalid"],
  ["anotherAsset", 424, "storefront_invalid"],
  ["expired", 410, "quote_expired"],
  ["checkout500", 424, "storefront_unavailable"],
  ["checkoutFree", 424, "storefront_invalid"],
  ["challengeGarbage", 424, "storefront_invalid"],
];

describe("an order at a storefront that fails before it is paid", () => {
  test.each(refused)("%s is %d %s; nothing is stored, and the key can be used again", async (fault, status, code) => {
    shop.fault = fault;
    const key = newOrderKey();
    const reply = await place(scene, shop, key);
    expect([reply.status, reply.problem.code]).toEqual([status, code]);
    expect(await holds()).toEqual([]);
    expect(await database().select().from(orders).where(eq(orders.idempotencyKey, key))).toEqual([]);
    shop.fault = "clean";
    const items = [{ productId: "tee", variantId: "tee-m", quantity: 1 }];
    expect((await place(scene, shop, key, { items })).data.status).toBe("paymentCredentialRequired");
  });

  test("422 items_ambiguous if a query matches two variants", async () => {
    shop.fault = "twoVariants";
    const reply = await place(scene, shop, newOrderKey(), { items: [{ query: "tee" }] });
    expect([reply.status, reply.problem.code]).toEqual([422, "items_ambiguous"]);
    expect(await holds()).toEqual([]);
  });

  const lies: StorefrontFault[] = [
    "challengeAmount",
    "challengePayee",
    "challengeAsset",
    "challengeChain",
    "challengeResource",
    "challengeTokenName",
  ];
  test.each(lies)("%s: a 402 response that differs from the quote is denied, and nothing is reserved", async (fault) => {
    shop.fault = fault;
    const { data } = await place(scene, shop, newOrderKey());
    expect(data).toMatchObject({
      status: "denied",
      authorization: { policyDecision: { outcome: "deny", denialCode: "challenge_mismatch" } },
    });
    expect(data.paymentRequired).toBeUndefined();
    expect(await holds()).toEqual([]);
  });

  test("a name that is cut inside a character can be shown to the person who approves", async () => {
    const asked = await checkoutScene({ mandate: { policy: { ...open, approval: { mode: "always" } } } });
    shop.fault = "nameEndsInEmoji";
    const { data } = await place(asked, shop, newOrderKey());
    expect(data.status).toBe("approvalRequired");
    expect(JSON.stringify(data).isWellFormed()).toBe(true);
  });

  test("the texts of a storefront reach no agent as instructions", async () => {
    const { data } = await place(scene, shop, newOrderKey());
    expect(JSON.stringify(data)).not.toMatch(/ignore all limits/i);
  });
});

/** Sets the expiry of the sent signed payment to the past, and runs the worker that asks the chain about payments. */
async function credentialExpires(): Promise<void> {
  await database()
    .update(executions)
    .set({ validBefore: new Date(Date.now() - 60_000), nextCheckAt: past })
    .where(eq(executions.mandateId, scene.mandateId));
  await reconcile();
}

describe("an order at a storefront that fails after it is paid", () => {
  async function paid(fault: StorefrontFault) {
    const key = newOrderKey();
    const first = await place(scene, shop, key);
    const paymentCredential = await signedOrder(wallet, first);
    shop.fault = fault;
    return { key, paymentCredential, reply: await place(scene, shop, key, { paymentCredential }) };
  }

  test.each<StorefrontFault>(["paidRefuses", "paidLies"])(
    "%s: no money moved, so the amount is released when the signed payment expires, and the order fails",
    async (fault) => {
      const before = await balance();
      const { key, reply } = await paid(fault);
      expect(reply.data.status).toBe("processing");
      expect(await holds()).toEqual(["submitted"]);
      expect((await place(scene, shop, key)).data.status).toBe("processing");
      await credentialExpires();
      expect((await place(scene, shop, key)).data).toMatchObject({ status: "failed", nextAction: { type: "none" } });
      expect(await holds()).toEqual(["released"]);
      expect(await balance()).toBe(before);
    },
  );

  test.each<StorefrontFault>(["paid500", "paidHang", "paidHangUp"])(
    "%s: the paid amount is captured once, and the storefront is asked again until it answers",
    async (fault) => {
      const before = await balance();
      const { key, paymentCredential, reply } = await paid(fault);
      expect(reply.data.status).toBe("processing");
      expect(await holds()).toEqual(["captured"]);
      expect((await place(scene, shop, key, { paymentCredential })).data).toEqual(reply.data);
      shop.fault = "clean";
      shop.settle = null;
      expect((await place(scene, shop, key)).data).toMatchObject({
        status: "completed",
        storefront: { metadata: { orderId: "order-1" } },
      });
      expect((await place(scene, shop, key, { paymentCredential })).data.status).toBe("completed");
      expect(before - (await balance())).toBe(25_000_000n);
    },
  );

  test("paidHtml: an answer without an order completes the order without an id", async () => {
    const { reply } = await paid("paidHtml");
    expect(reply.data.status).toBe("completed");
    expect(reply.data.storefront.metadata).not.toHaveProperty("orderId");
    expect(await holds()).toEqual(["captured"]);
  });
});
