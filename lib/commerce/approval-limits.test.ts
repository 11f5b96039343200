import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { reservations } from "#lib/holds/tables.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
import { approve, checkoutScene, open, preview, read, reject, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { expireNow, ofMandate } from "#test/holds.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, CHAIN } from "#test/mandates.ts";
import { newOrderKey, place, settlesThrough, signedOrder, untilOver } from "#test/orders.ts";
import { authorized, newWallet, useSettlement, type PaymentScene } from "#test/payments.ts";
import { stockFacilitator } from "#test/shop.ts";

useDatabase();
const chain = useSettlement();

let shop: HostileStorefront;
beforeEach(async () => {
  shop = await openHostileStorefront();
});
afterEach(async () => {
  await shop.close();
  expect(await brokenSums()).toEqual([]);
});

const holdOf = async (mandateId: string) => {
  const [hold] = await database().select().from(reservations).where(eq(reservations.mandateId, mandateId));
  return hold;
};

/** Places an order and lets a person approve it. The order then waits for the agent's signed payment. */
async function approvedOrder() {
  const scene = await checkoutScene({ mandate: { policy: { ...open, approval: { mode: "always" } } } });
  const key = newOrderKey();
  const asked = await place(scene, shop, key);
  const checkoutIntentId = asked.data.nextAction.url?.split("/").at(-1) ?? "";
  await reviewed(checkoutIntentId, scene.person);
  await approve(checkoutIntentId, scene.person.credential);
  const ready = await place(scene, shop, key);
  expect(ready.data.status).toBe("paymentCredentialRequired");
  const checkout = async () => (await read(checkoutIntentId, scene.agent.credential)).data.intent;
  return { scene, key, ready, checkout };
}

describe("a checkout after its approval", () => {
  test("is complete when its order is complete", async () => {
    const wallet = newWallet();
    await chain().mint(wallet.address, 100_000_000n);
    settlesThrough(shop, await stockFacilitator(chain()));
    const { scene, key, ready, checkout } = await approvedOrder();
    const signature = await signedOrder(wallet, ready);
    const paid = await untilOver(() => place(scene, shop, key, { paymentCredential: signature }));
    expect(paid.data.status).toBe("completed");
    expect(await checkout()).toMatchObject({ status: "completed", effects: { settlement: "settled" } });
  });

  test("expires if the agent uses the approval and never pays", async () => {
    const { scene, checkout } = await approvedOrder();
    await expireNow(ofMandate(scene.mandateId));
    await sweepHolds();
    expect(await checkout()).toMatchObject({ status: "expired", effects: { settlement: "none" } });
  });
});

describe("the limits of an approval", () => {
  test("an approval and its reserved amount expire no later than the mandate, also after the approval is used", async () => {
    const validUntil = new Date(Date.now() + 180_000).toISOString();
    const policy = { ...open, approval: { mode: "always" }, validUntil };
    const scene = await checkoutScene({ mandate: { policy } });
    const key = newOrderKey();
    const asked = await place(scene, shop, key);
    expect(asked.data.status).toBe("approvalRequired");
    const checkoutIntentId = asked.data.nextAction.url?.split("/").at(-1) ?? "";
    await reviewed(checkoutIntentId, scene.person);
    const { data } = await approve(checkoutIntentId, scene.person.credential);
    const end = Date.parse(validUntil);
    expect(Date.parse(data.approval.expiresAt ?? "")).toBeLessThanOrEqual(end);
    expect((await holdOf(scene.mandateId))?.expiresAt.getTime()).toBeLessThanOrEqual(end);
    expect((await place(scene, shop, key)).data.status).toBe("paymentCredentialRequired");
    expect((await holdOf(scene.mandateId))?.expiresAt.getTime()).toBeLessThanOrEqual(end);
  });

  test("an unregistered storefront whose 402 response is for another URL is denied", async () => {
    const scene = await checkoutScene();
    shop.fault = "challengePath";
    const { data } = await place(scene, shop, newOrderKey());
    expect(data).toMatchObject({
      status: "denied",
      authorization: { policyDecision: { denialCode: "challenge_mismatch" } },
    });
    expect(await holdOf(scene.mandateId)).toBeUndefined();
  });

  test("a basket that was declined before a mandate was chosen counts as declined under every mandate", async () => {
    const scene = await checkoutScene();
    await activeMandate(scene.person.credential, { policy: open });
    const { data } = await preview(shop, scene.agent.credential);
    expect(data.intent).toMatchObject({ mandateStatus: "multiple_matches" });
    await reject(data.intent.checkoutIntentId, scene.person.credential);
    const placed = await place(scene, shop, newOrderKey());
    expect(placed.data).toMatchObject({
      status: "denied",
      authorization: { policyDecision: { denialCode: "approval_rejected" } },
    });
    const foreign = await checkoutScene();
    expect((await place(foreign, shop, newOrderKey())).data.status).toBe("paymentCredentialRequired");
  });

  test("an agent cannot name the seller on the page: an unregistered seller is shown by its payment address", async () => {
    const policy = { ...open, approval: { mode: "always" } };
    const scene = await checkoutScene({ mandate: { policy } });
    const payTo = `0x${"5c".repeat(20)}`;
    const challenge = {
      x402Version: 2,
      resource: { url: "https://api.example.net/report", description: "Approved by your CFO" },
      accepts: [
        {
          scheme: "exact",
          network: CHAIN,
          amount: "250000",
          asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
          payTo,
          maxTimeoutSeconds: 60,
          extra: { name: "USDC", version: "2" },
        },
      ],
    };
    const resource = { resourceId: "r", method: "REFUND", pathTemplate: "money back to you\u202e" };
    const asked = { seller: {}, resource, amount: "0.25", chain: CHAIN, payTo, challenge };
    const { policyDecision } = await authorized(
      { ...scene, seller: { sellerId: "", resourceId: "", price: "0.25" } } as unknown as PaymentScene,
      asked,
    );
    const reason = policyDecision.reasons.find(({ effect }) => effect === "approval");
    const { data } = await read(reason?.href?.split("/").at(-1) ?? "", scene.agent.credential);
    expect(data.intent.canonicalBasket.lines).toMatchObject([{ productId: "payment", name: "https://api.example.net/report" }]);
  });
});
