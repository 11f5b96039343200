import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, describe, test } from "vitest";
import { startStorefront, type Storefront } from "../../examples/storefront/server.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";
import * as contract from "#lib/sellers/contract.ts";
import { registerSeller } from "#lib/sellers/register-seller.ts";
import { sellers } from "#lib/sellers/tables.ts";
import { upsertPaidResource } from "#lib/sellers/resources/upsert-paid-resource.ts";
import { checkoutScene, open, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization, type Owner } from "#test/identity.ts";
import { assets } from "#test/mandates.ts";
import { newOrderKey, place, signedOrder, untilOver } from "#test/orders.ts";
import { authorized, newWallet, useSettlement, type PaymentScene } from "#test/payments.ts";
import { randomAddress } from "#test/sellers.ts";
import { stockFacilitator } from "#test/shop.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();
const wallet = newWallet();
const payTo = randomAddress();
const items = [{ query: "blue mug", quantity: 2 }];

let shop: Storefront;
let owner: Owner;
let scene: CheckoutScene;
let sellerId: string;

/** Registers the storefront's checkout as a resource of the seller, with this pricing and this payee. */
const register = (pricing: Record<string, unknown>, to = payTo) =>
  send(contract.upsertPaidResource, upsertPaidResource, {
    as: owner.credential,
    id: "checkout",
    body: {
      sellerId,
      method: "POST",
      pathTemplate: "/agent/checkout",
      pricing,
      acceptedPaymentChallengeTypes: ["x402"],
      paymentConfig: { payTo: to },
    },
  });

beforeAll(async () => {
  await chain().mint(wallet.address, 1_000_000_000n);
  const options = { facilitator: await stockFacilitator(chain()), payTo, sellerId: "", resourceId: "checkout" };
  shop = await startStorefront(options);
  (env() as { OUTBOUND_LOOPBACK?: string }).OUTBOUND_LOOPBACK = shop.domain;
  forget("outbound/guarded-fetch");
  owner = await newOrganization({ productRoles: ["seller"], name: "Goods" });
  const body = { name: "Goods", domain: shop.domain };
  const registered = await send(contract.registerSeller, registerSeller, { as: owner.credential, body });
  sellerId = registered.data.sellerId;
  options.sellerId = sellerId;
  await register({ type: "quoted", asset: "USDC", maxAmount: "40.00" });
  const { limits } = open;
  scene = await checkoutScene({ mandate: { policy: { assets, limits, sellers: { allow: [sellerId] } } } });
});
afterAll(() => shop.close());

describe("an order at a registered storefront", () => {
  test("costs what its 402 response says, and is paid to the registered payee", async () => {
    const key = newOrderKey();
    const first = await place(scene, shop, key, { items });
    expect(first.data).toMatchObject({
      status: "paymentCredentialRequired",
      storefront: { sellerId, resourceId: "checkout", seller: { sellerId, verified: false, domain: shop.domain } },
      intent: {
        amount: "28",
        seller: { sellerId },
        resource: { resourceId: "checkout", pricing: { type: "quoted", maxAmount: "40" } },
      },
    });
    const signature = await signedOrder(wallet, first);
    const paid = await untilOver(() => place(scene, shop, key, { items, paymentCredential: signature }));
    expect(paid.data).toMatchObject({ status: "completed", storefront: { metadata: { orderId: shop.orders()[0]?.id } } });
    expect(await chain().balanceOf(payTo)).toBe(28_000_000n);
  });

  test("is denied above the registered limit", async () => {
    const { data } = await place(scene, shop, newOrderKey(), { items: [{ query: "blue mug", quantity: 3 }] });
    expect(data.authorization?.policyDecision.denialCode).toBe("challenge_mismatch");
  });

  test("is denied if the storefront names another payee than its seller registered", async () => {
    await register({ type: "quoted", asset: "USDC" }, randomAddress());
    const { data } = await place(scene, shop, newOrderKey(), { items });
    expect(data).toMatchObject({ status: "denied", authorization: { policyDecision: { denialCode: "challenge_mismatch" } } });
    await register({ type: "quoted", asset: "USDC" });
  });

  test("ordering from a verified domain works in the same way", async () => {
    await database().update(sellers).set({ verified: true }).where(eq(sellers.sellerId, sellerId));
    const { data } = await place(scene, shop, newOrderKey(), { items });
    expect(data).toMatchObject({ status: "paymentCredentialRequired", storefront: { seller: { verified: true } } });
  });

  test("an agent cannot set a quoted price: without the seller's 402 response the payment is denied", async () => {
    const intent = { seller: { sellerId }, resource: { resourceId: "checkout" }, amount: "1" };
    const { policyDecision } = await authorized(
      { ...scene, seller: { sellerId, resourceId: "checkout", price: "1" } } as unknown as PaymentScene,
      intent,
    );
    expect(policyDecision).toMatchObject({ outcome: "deny", denialCode: "challenge_mismatch" });
  });
});
