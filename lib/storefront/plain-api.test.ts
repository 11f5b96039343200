import { x402Client, x402HTTPClient } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";
import { probeCheckout } from "#lib/storefront/probe-checkout.ts";
import { payCheckout } from "#lib/storefront/pay-checkout.ts";
import { discoverStorefront } from "#lib/storefront/discover-storefront.ts";
import { requestQuote } from "#lib/storefront/request-quote.ts";
import { useChain } from "#test/chain.ts";
import { CHAIN } from "#test/mandates.ts";
import { stockFacilitator } from "#test/shop.ts";
import { startSeller, type Seller } from "../../examples/seller.ts";

const chain = useChain();
const wallet = privateKeyToAccount(generatePrivateKey());
const payTo = privateKeyToAccount(generatePrivateKey()).address;
let shop: Seller;

beforeAll(async () => {
  shop = await startSeller({
    facilitator: await stockFacilitator(chain()),
    payTo,
    prices: { "/report": "$0.25", "/gift": "$0" },
  });
  (env() as { OUTBOUND_LOOPBACK?: string }).OUTBOUND_LOOPBACK = new URL(shop.url).host;
  forget("outbound/guarded-fetch");
});
afterAll(() => shop.close());

describe("a plain x402 API, without a manifest", () => {
  it("can be paid with only its 402", async () => {
    const storefront = await discoverStorefront(`${shop.url}/report`);
    expect(storefront).toMatchObject({
      source: "x402",
      domain: new URL(shop.url).host,
      checkoutUrl: `${shop.url}/report`,
      checkoutMethod: "GET",
      payTo: payTo.toLowerCase(),
    });
    const quote = await requestQuote(storefront, [{ quantity: 1 }]);
    expect(quote).toMatchObject({ amount: 250_000n, lines: [{ productId: "/report", name: "/report", unitAmount: "0.25" }] });
    const probed = await probeCheckout(storefront, quote, "key-1");
    expect(probed.mismatches).toEqual([]);
    await chain().mint(wallet.address, quote.amount);
    const client = new x402HTTPClient(new x402Client().register(CHAIN, new ExactEvmScheme(wallet)));
    const payload = await client.createPaymentPayload(client.getPaymentRequiredResponse((name) => probed.paymentRequired[name]));
    const paymentSignature = client.encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"] ?? "";
    const paid = await payCheckout(storefront, { ...quote, idempotencyKey: "key-1", paymentSignature });
    expect(paid).toMatchObject({ outcome: "completed", status: 200, order: null, settlement: { success: true } });
    expect([shop.served(), await chain().balanceOf(payTo)]).toEqual([1, quote.amount]);
  });

  it("sells one thing per order", async () => {
    const storefront = await discoverStorefront(`${shop.url}/report`);
    for (const items of [[{ quantity: 2 }], [{}, {}]])
      await expect(requestQuote(storefront, items)).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("is storefront_invalid if it sells nothing", async () => {
    await expect(discoverStorefront(`${shop.url}/nothing`)).rejects.toMatchObject({ code: "storefront_invalid" });
  });

  it("is storefront_invalid if it asks for a payment of zero", async () => {
    const storefront = await discoverStorefront(`${shop.url}/gift`);
    await expect(requestQuote(storefront, [{}])).rejects.toMatchObject({ code: "storefront_invalid" });
  });
});
