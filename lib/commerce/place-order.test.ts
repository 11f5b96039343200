import { eq } from "drizzle-orm";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { executions, reservations } from "#lib/holds/tables.ts";
import {
  approve,
  checkoutScene,
  items,
  open as openPolicy,
  read,
  reject,
  reviewed,
  type CheckoutScene,
} from "#test/checkouts.ts";
import { activate } from "#test/mandate-steps.ts";
import { proved } from "#test/proofs.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newKey } from "#test/identity.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, draftMandate } from "#test/mandates.ts";
import { endQuoteOf, newOrderKey, place, settlesThrough, signedOrder, untilOver } from "#test/orders.ts";
import { execute, newWallet, signedFor, useSettlement, type PaymentScene } from "#test/payments.ts";
import { stockFacilitator } from "#test/shop.ts";

useDatabase();
const chain = useSettlement();
const wallet = newWallet();
const asking = { policy: { ...openPolicy, approval: { mode: "always" } } };

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

const holds = async ({ mandateId }: Pick<CheckoutScene, "mandateId"> = scene) =>
  (await database().select().from(reservations).where(eq(reservations.mandateId, mandateId))).map(({ status }) => status);
const checkoutOf = ({ data }: Awaited<ReturnType<typeof place>>) => data.nextAction.url?.split("/").at(-1) ?? "";

describe("placeOrder", () => {
  test("asks for a signed payment, pays with it and completes with the storefront's order id", async () => {
    const key = newOrderKey();
    const first = await place(scene, shop, key, { metadata: { note: "for Ada" } });
    expect(first.status).toBe(200);
    expect(first.data).toMatchObject({
      status: "paymentCredentialRequired",
      nextAction: { type: "openBrowser", url: `${first.data.setupUrl}/edit` },
      scope: { paymentMode: "eip3009", payTo: shop.payTo, tokenDecimals: 6 },
      storefront: { seller: { domain: shop.domain, verified: false }, chain: "eip155:84532" },
      quote: { amount: "25", items: [{ productId: "tee", variantId: "tee-m", quantity: 2, totalAmount: "25" }] },
      intent: { amount: "25", payTo: shop.payTo, metadata: { note: "for Ada" } },
      authorization: { policyDecision: { outcome: "allow" } },
    });
    expect(await holds()).toEqual(["held"]);
    // A retry returns the unpaid order unchanged and sends no request to the storefront.
    const asked = shop.asked.length;
    expect((await place(scene, shop, key)).data).toEqual(first.data);
    expect(shop.asked.length).toBe(asked);
    const paymentCredential = await signedOrder(wallet, first);
    const paid = await untilOver(() => place(scene, shop, key, { paymentCredential }));
    expect(paid.data).toMatchObject({
      status: "completed",
      storefront: { metadata: { orderId: "order-1" } },
      intent: { metadata: { orderId: "order-1", note: "for Ada" } },
      nextAction: { type: "none" },
    });
    expect(await holds()).toEqual(["captured"]);
    expect(shop.credentials.length).toBe(1);
    const again = await place(scene, shop, key, { paymentCredential });
    expect([again.data, again.headers.get("idempotent-replayed")]).toEqual([paid.data, "true"]);
    const bare = await place(scene, shop, key);
    expect([bare.data, bare.headers.get("idempotent-replayed")]).toEqual([paid.data, "true"]);
    expect(shop.credentials.length).toBe(1);
    const other = await place(scene, shop, key, { paymentCredential: await signedOrder(wallet, first) });
    expect([other.status, other.problem.code]).toEqual([409, "authorization_consumed"]);
  });

  test("422 for a key of another order", async () => {
    const key = newOrderKey();
    await place(scene, shop, key);
    const other = await place(scene, shop, key, { items: [{ ...items[0], quantity: 3 }] });
    expect([other.status, other.problem.code]).toEqual([422, "idempotency_key_reused"]);
    // A retry may have other metadata, because metadata is not part of the hash that is compared. The order keeps the metadata of
    // the first call.
    const noted = await place(scene, shop, key, { metadata: { later: true } });
    expect([noted.status, noted.data.intent?.metadata]).toEqual([200, undefined]);
  });

  test("403 for another agent of the organization, 404 for a mandate of another organization", async () => {
    const key = newOrderKey();
    await place(scene, shop, key);
    const colleague = { ...scene, agent: await newKey(scene.person) };
    expect((await place(colleague, shop, key)).problem.code).toBe("forbidden");
    const foreign = await checkoutScene();
    const stolen = await place({ ...foreign, mandateId: scene.mandateId }, shop, newOrderKey());
    expect([stolen.status, stolen.problem.code]).toEqual([404, "not_found"]);
  });

  test("a denial is stored with its reasons, and a retry gets the same bytes", async () => {
    const mandateId = await activeMandate(scene.person.credential, {
      policy: { ...openPolicy, limits: { ...openPolicy.limits, perPayment: "24.99" } },
    });
    const key = newOrderKey();
    const denied = await place({ ...scene, mandateId }, shop, key);
    expect(denied.data).toMatchObject({
      status: "denied",
      authorization: { policyDecision: { outcome: "deny", denialCode: "per_payment_limit_exceeded" } },
    });
    expect(denied.data.paymentRequired).toBeUndefined();
    expect(await holds({ mandateId })).toEqual([]);
    expect((await place({ ...scene, mandateId }, shop, key)).data).toEqual(denied.data);
  });

  test("setupRequired if the mandate is not ready; the same key continues when the mandate is ready", async () => {
    const { mandateId } = await draftMandate(scene.person.credential, { policy: openPolicy });
    const key = newOrderKey();
    const waiting = await place({ ...scene, mandateId }, shop, key);
    expect(waiting.data).toMatchObject({
      status: "setupRequired",
      nextAction: { type: "openBrowser", url: waiting.data.setupUrl },
    });
    await proved(scene.person.credential, () => activate(scene.person.credential, mandateId));
    expect((await place({ ...scene, mandateId }, shop, key)).data.status).toBe("paymentCredentialRequired");
  });

  test("a signed payment that is refused before it is sent does not change the order", async () => {
    const key = newOrderKey();
    const first = await place(scene, shop, key);
    const poor = await signedOrder(newWallet(), first);
    const failed = await place(scene, shop, key, { paymentCredential: poor });
    expect(failed.data).toMatchObject({
      status: "failed",
      nextAction: { type: "submitPaymentCredential" },
      intent: { metadata: { failureCode: "insufficient_funds" } },
    });
    expect(await holds()).toEqual(["held"]);
    expect(shop.credentials).toEqual([]);
    expect((await place(scene, shop, key, { paymentCredential: poor })).data).toEqual(failed.data);
    expect((await place(scene, shop, key)).data.status).toBe("paymentCredentialRequired");
    const signature = await signedOrder(wallet, first);
    const paid = await untilOver(() => place(scene, shop, key, { paymentCredential: signature }));
    expect(paid.data.status).toBe("completed");
  });
});

describe("placeOrder with an approval", () => {
  beforeEach(async () => {
    scene = await checkoutScene({ mandate: asking });
  });

  test("20 repeats before the person decides ask for one approval, and the approval is used once", async () => {
    const key = newOrderKey();
    const replies = await Promise.all(Array.from({ length: 20 }, () => place(scene, shop, key)));
    const shown = replies.filter(({ status }) => status === 200);
    expect(shown.length).toBeGreaterThan(0);
    for (const { data } of shown) expect(data).toEqual(shown[0]?.data);
    for (const { status, problem } of replies.filter((reply) => reply.status !== 200)) {
      expect([status, problem.code]).toEqual([409, "idempotency_in_flight"]);
    }
    for (let index = 0; index < 5; index++) expect((await place(scene, shop, key)).data).toEqual(shown[0]?.data);
    expect(shown[0]?.data).toMatchObject({ status: "approvalRequired", nextAction: { type: "openBrowser" } });
    expect(await holds()).toEqual(["held"]);
    const checkoutIntentId = checkoutOf(shown[0]!);
    await reviewed(checkoutIntentId, scene.person);
    expect((await approve(checkoutIntentId, scene.person.credential)).status).toBe(200);
    const after = await Promise.all(Array.from({ length: 10 }, () => place(scene, shop, key)));
    const redeemed = after.filter(({ status }) => status === 200);
    for (const { data } of redeemed) expect(data.status).toBe("paymentCredentialRequired");
    const paymentCredential = await signedOrder(wallet, redeemed[0]!);
    const paid = await untilOver(() => place(scene, shop, key, { paymentCredential }));
    expect(paid.data).toMatchObject({ status: "completed", storefront: { metadata: { orderId: "order-1" } } });
    expect(await holds()).toEqual(["captured"]);
    const rows = await database().select().from(executions).where(eq(executions.mandateId, scene.mandateId));
    expect(rows.length).toBe(1);
  });

  test("the reason says where and how to wait, and the approved checkout says to place the order again", async () => {
    const key = newOrderKey();
    const { data } = await place(scene, shop, key);
    const reason = data.authorization?.policyDecision.reasons.find(({ effect }) => effect === "approval");
    const checkoutIntentId = reason?.checkoutIntentId ?? "";
    expect(data.nextAction.url).toBe(reason?.href);
    expect(reason?.pollWith?.path).toContain(checkoutIntentId);
    // The reason offers no call of executePayment, because that call alone would pay without placing the order.
    expect(reason?.next).toBeUndefined();
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    const polled = await read(checkoutIntentId, scene.agent.credential);
    expect(polled.data.next).toMatchObject({ method: "POST", path: "/api/v1/agent/commerce/place-order" });
    const { body } = polled.data.next!;
    expect(body).toEqual({ storefrontUrl: shop.url, mandateId: scene.mandateId, items, idempotencyKey: key });
    expect((await place(scene, shop, key, body)).data.status).toBe("paymentCredentialRequired");
  });

  test("a second order of the same basket waits for the same checkout and reserves nothing more", async () => {
    const one = await place(scene, shop, newOrderKey());
    const two = await place(scene, shop, newOrderKey());
    expect(checkoutOf(two)).toBe(checkoutOf(one));
    expect(await holds()).toEqual(["held"]);
  });

  test("a rejection denies the order, and for an hour the same basket under the mandate", async () => {
    const key = newOrderKey();
    const checkoutIntentId = checkoutOf(await place(scene, shop, key));
    await reject(checkoutIntentId, scene.person.credential, { reason: "We have enough." });
    const denied = await place(scene, shop, key);
    expect(denied.data).toMatchObject({
      status: "denied",
      authorization: { policyDecision: { outcome: "deny", denialCode: "approval_rejected" } },
    });
    expect((await place(scene, shop, key)).data).toEqual(denied.data);
    expect(await holds()).toEqual(["released"]);
    const another = await place(scene, shop, newOrderKey());
    expect(another.data).toMatchObject({
      status: "denied",
      authorization: { policyDecision: { denialCode: "approval_rejected" } },
    });
    const more = await place(scene, shop, newOrderKey(), { items: [{ ...items[0], quantity: 1 }] });
    expect(more.data.status).toBe("approvalRequired");
  });

  test("a price that changed after the approval is not paid: quoteChanged, and the amount is released", async () => {
    const key = newOrderKey();
    const checkoutIntentId = checkoutOf(await place(scene, shop, key));
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    shop.fault = "priceRises";
    await endQuoteOf(key);
    const changed = await place(scene, shop, key);
    expect(changed.data).toMatchObject({ status: "quoteChanged", nextAction: { type: "none", label: "Place a new order" } });
    expect(await holds()).toEqual(["released"]);
    expect((await place(scene, shop, key)).data).toEqual(changed.data);
  });

  test("if the quote expired and the new quote is equal, the order is paid as approved", async () => {
    const key = newOrderKey();
    const checkoutIntentId = checkoutOf(await place(scene, shop, key));
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    await endQuoteOf(key);
    const redeemed = await place(scene, shop, key);
    expect(redeemed.data).toMatchObject({ status: "paymentCredentialRequired", quote: { quoteId: "q-2" } });
    const signature = await signedOrder(wallet, redeemed);
    const paid = await untilOver(() => place(scene, shop, key, { paymentCredential: signature }));
    expect(paid.data.status).toBe("completed");
  });

  test("a new quote that has expired already uses no approval, and the next call pays what was approved", async () => {
    const key = newOrderKey();
    const checkoutIntentId = checkoutOf(await place(scene, shop, key));
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    await endQuoteOf(key);
    shop.fault = "expired";
    expect((await place(scene, shop, key)).problem.code).toBe("quote_expired");
    shop.fault = "clean";
    expect((await place(scene, shop, key)).data.status).toBe("paymentCredentialRequired");
  });

  test("a payment made by executePayment is sent to the storefront by its order, and not paid again", async () => {
    const key = newOrderKey();
    const first = await place(scene, shop, key);
    const checkoutIntentId = checkoutOf(first);
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    const { authorizationId = "" } = first.data.authorization ?? {};
    const missing = await execute(scene as unknown as PaymentScene, { authorizationId });
    const headers = missing.problem.nextActions[0]?.metadata?.["paymentRequired"] as Record<string, string>;
    const paymentCredential = await signedFor(wallet, (name) => headers[name]);
    const executed = await execute(scene as unknown as PaymentScene, { authorizationId, paymentCredential });
    expect(executed.status).toBe(200);
    expect((await place(scene, shop, key)).data).toMatchObject({
      status: "completed",
      storefront: { metadata: { orderId: "order-1" } },
    });
    expect(await holds()).toEqual(["captured"]);
  });
});
