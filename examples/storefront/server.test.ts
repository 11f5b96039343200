import { x402Client, x402HTTPClient } from "@x402/core/client";
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

beforeAll(async () => {
  shop = await startStorefront({ facilitator: await stockFacilitator(chain()), payTo });
  (env() as { OUTBOUND_LOOPBACK?: string }).OUTBOUND_LOOPBACK = shop.domain;
  forget("outbound");
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
