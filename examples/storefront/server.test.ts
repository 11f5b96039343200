import { x402Client, x402HTTPClient } from "@x402/core/client";
import type { FacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { env } from "#lib/env.ts";
import { parseAmount } from "#lib/money.ts";
import { forget } from "#lib/process.ts";
import { probeCheckout } from "#lib/storefront/probe-checkout.ts";
import { payCheckout } from "#lib/storefront/pay-checkout.ts";
import { discoverStorefront, type Storefront as DiscoveredStorefront } from "#lib/storefront/discover-storefront.ts";
import { requestQuote } from "#lib/storefront/request-quote.ts";
import { useChain } from "#test/chain.ts";
import { CHAIN } from "#test/mandates.ts";
import { stockFacilitator } from "#test/shop.ts";
import { startStorefront, type Storefront } from "./server.ts";

const chain = useChain();
const wallet = privateKeyToAccount(generatePrivateKey());
const payTo = privateKeyToAccount(generatePrivateKey()).address;
let shop: Storefront;
let storefront: DiscoveredStorefront;
/** Runs before each settlement. */
let beforeSettling = (): Promise<void> => Promise.resolve();

beforeAll(async () => {
  const stock = await stockFacilitator(chain());
  const facilitator: FacilitatorClient = {
    ...stock,
    settle: async (payload, requirements) => {
      await beforeSettling();
      return stock.settle(payload, requirements);
    },
  };
  shop = await startStorefront({ facilitator, payTo });
  (env() as { OUTBOUND_LOOPBACK?: string }).OUTBOUND_LOOPBACK = shop.domain;
  forget("outbound/guarded-fetch");
  storefront = await discoverStorefront(shop.url);
});
afterAll(() => shop.close());

/** Signs the payment that a 402 asks for with the standard client, whose limit is the amount of the order. */
async function sign(paymentRequired: Readonly<Record<string, string>>, amount: bigint): Promise<string> {
  const allowed = { network: CHAIN, asset: storefront.asset.tokenAddress, maxAmountPerPayment: amount.toString() } as const;
  const stock = new x402Client().register(CHAIN, new ExactEvmScheme(wallet)).setSpendControls({ allowedAssets: [allowed] });
  const client = new x402HTTPClient(stock);
  const required = client.getPaymentRequiredResponse((name) => paymentRequired[name]);
  return client.encodePaymentSignatureHeader(await client.createPaymentPayload(required))["PAYMENT-SIGNATURE"] ?? "";
}

describe("the example shop", () => {
  it("sells to an agent: manifest, quote, 402, payment, order", async () => {
    const quote = await requestQuote(storefront, [{ query: "blue mug" }]);
    const probed = await probeCheckout(storefront, quote, "order-1");
    expect([quote.amount, probed.mismatches]).toEqual([14_000_000n, []]);
    await chain().mint(wallet.address, quote.amount);
    const order = { ...quote, idempotencyKey: "order-1", paymentSignature: await sign(probed.paymentRequired, quote.amount) };
    const paid = await payCheckout(storefront, order);
    expect(paid).toMatchObject({ outcome: "completed", settlement: { success: true } });
    expect(paid.order?.permalinkUrl).toBe(`${shop.url}/orders/${paid.order?.id}`);
    expect(await chain().balanceOf(payTo)).toBe(quote.amount);
    expect(shop.orders().map(({ quoteId }) => quoteId)).toEqual([quote.quoteId]);
    const again = await payCheckout(storefront, order);
    expect(again.order).toEqual(paid.order);
    expect(await chain().balanceOf(payTo)).toBe(quote.amount);
  });

  it("sells a quote once, also to two payments at the same time", async () => {
    const quote = await requestQuote(storefront, [{ query: "white mug" }]);
    await chain().mint(wallet.address, quote.amount * 2n);
    const [sold, paid] = [shop.orders().length, await chain().balanceOf(payTo)];
    const { paymentRequired } = await probeCheckout(storefront, quote, "order-4");
    const pay = async (idempotencyKey: string) =>
      payCheckout(storefront, { ...quote, idempotencyKey, paymentSignature: await sign(paymentRequired, quote.amount) });
    const replies = await Promise.all([pay("order-4"), pay("order-5")]);
    expect((await chain().balanceOf(payTo)) - paid).toBe(quote.amount);
    expect(shop.orders()).toHaveLength(sold + 1);
    const ids = replies.flatMap(({ order }) => order?.id ?? []);
    expect(new Set(ids)).toEqual(new Set([shop.orders().at(-1)?.id]));
  });

  it("keeps the order of a buyer who hangs up while the payment is settled, and answers it to a repeat", async () => {
    const quote = await requestQuote(storefront, [{ query: "tee", size: "M" }]);
    await chain().mint(wallet.address, quote.amount);
    const { paymentRequired } = await probeCheckout(storefront, quote, "order-6");
    const order = { ...quote, idempotencyKey: "order-6", paymentSignature: await sign(paymentRequired, quote.amount) };
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    beforeSettling = () => {
      begun.resolve();
      return goOn.promise;
    };
    const hangUp = new AbortController();
    const first = fetch(storefront.checkoutUrl, {
      method: "POST",
      headers: { "content-type": "application/json", "payment-signature": order.paymentSignature },
      body: JSON.stringify({ quoteId: quote.quoteId, idempotencyKey: "order-6" }),
      signal: hangUp.signal,
    });
    await begun.promise;
    hangUp.abort();
    await expect(first).rejects.toThrow();
    const repeat = payCheckout(storefront, order);
    goOn.resolve();
    expect(await repeat).toMatchObject({ outcome: "completed", order: { id: shop.orders().at(-1)?.id } });
    expect(shop.orders().at(-1)?.quoteId).toBe(quote.quoteId);
  });

  it("stores no unpaid order", async () => {
    const before = shop.orders().length;
    const quote = await requestQuote(storefront, [{ productId: "notebook", quantity: 2 }]);
    const probed = await probeCheckout(storefront, quote, "order-2");
    const poor = { ...quote, idempotencyKey: "order-2", paymentSignature: await sign(probed.paymentRequired, quote.amount) };
    expect(await payCheckout(storefront, poor)).toMatchObject({ outcome: "refused", status: 402, order: null });
    expect(shop.orders()).toHaveLength(before);
  });

  it.each([
    ["items_ambiguous", { query: "mug" }],
    ["items_ambiguous", { productId: "tee" }],
    ["out_of_stock", { productId: "lamp" }],
    ["out_of_stock", { query: "spaceship" }],
  ])("answers %s to %j", async (code, item) => {
    await expect(requestQuote(storefront, [item])).rejects.toMatchObject({ code });
  });

  it("sends no 402 for an unknown quote", async () => {
    const unknown = { quoteId: "q_unknown", amount: parseAmount("14", 6) };
    await expect(probeCheckout(storefront, unknown, "order-3")).rejects.toMatchObject({ code: "quote_expired" });
  });
});
