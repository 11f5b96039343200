import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { startSeller, type Seller } from "../../examples/seller.ts";
import type { Message } from "../../sdk/src/cli/mcp.ts";
import { payHere } from "../../sdk/src/cli/pay-here.ts";
import { forget } from "#lib/process.ts";
import { checkoutScene, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { useSettlement } from "#test/payments.ts";
import { randomAddress } from "#test/sellers.ts";
import { listenService, stockFacilitator } from "#test/shop.ts";

/* Calls of `countersign mcp` that come while the same purchase is under way, with the real service and a real chain. */

useDatabase();
const chain = useSettlement();

let scene: CheckoutScene;
beforeAll(async () => {
  scene = await checkoutScene();
});

type Hold = { readonly arrived: Promise<void>; release(): void };
const wallet = privateKeyToAccount(generatePrivateKey());

/** A seller that settles only after `release`. It settles no payment if `accepts` is false. */
async function slowSeller(): Promise<Seller & Hold & { accepts: boolean }> {
  const stock = await stockFacilitator(chain());
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const state = { accepts: true };
  const settle: typeof stock.settle = async (payload, requirements) => {
    arrived.resolve();
    await released.promise;
    if (!state.accepts) throw new Error("The facilitator is down.");
    return stock.settle(payload, requirements);
  };
  const seller = await startSeller({ facilitator: { ...stock, settle }, payTo: randomAddress() });
  process.env["OUTBOUND_LOOPBACK"] = new URL(seller.url).host;
  forget("env", "outbound/guarded-fetch", "payments/probe-domain");
  onTestFinished(() => seller.close());
  return Object.assign(state, { ...seller, arrived: arrived.promise, release: () => released.resolve() });
}

async function bridgeTo(seller: Seller) {
  await chain().mint(wallet.address, 1_000_000n);
  const service = await listenService();
  onTestFinished(() => service.close());
  const pay = payHere({ url: service.url, apiKey: scene.agent.apiKey }, wallet);
  const args = { url: `${seller.url}/report`, mandateId: scene.mandateId };
  const asked: Message = { method: "tools/call", params: { name: "fetch_paid", arguments: args } };
  const answer: Message = { jsonrpc: "2.0", id: 1, result: { structuredContent: { status: "setupRequired" } } };
  return async (signal = new AbortController().signal): Promise<unknown> =>
    (await pay(asked, answer, signal))?.result?.["structuredContent"];
}

test("two calls for one purchase at the same time both get the paid answer", async () => {
  const seller = await slowSeller();
  const call = await bridgeTo(seller);
  const both = [call(), call()];
  await seller.arrived;
  seller.release();
  const [first, second] = await Promise.all(both);
  expect(first).toMatchObject({ status: "paid", answer: { status: 200 }, repeated: false });
  expect(second).toMatchObject({ status: "paid", answer: { status: 200 }, repeated: true });
  expect(await call()).toMatchObject({ status: "paid", repeated: true });
  expect(seller.served()).toBe(1);
});

test.each([0, 1])("a cancelled call leaves the other call for its purchase as it is: call %i", async (cancelled) => {
  const seller = await slowSeller();
  const call = await bridgeTo(seller);
  const stop = new AbortController();
  const both = [0, 1].map((at) => call(at === cancelled ? stop.signal : undefined));
  await seller.arrived;
  stop.abort(new Error("cancelled"));
  await expect(both[cancelled]).rejects.toThrow("cancelled");
  seller.release();
  expect(await both[1 - cancelled]).toMatchObject({ status: "paid", answer: { status: 200 } });
});

test("a cancelled purchase is stopped and forgotten, so that the next call pays", async () => {
  const seller = await slowSeller();
  const call = await bridgeTo(seller);
  const stop = new AbortController();
  const cancelled = call(stop.signal);
  stop.abort(new Error("cancelled"));
  await expect(cancelled).rejects.toThrow("cancelled");
  seller.release();
  expect(await call()).toMatchObject({ status: "paid", repeated: false });
});
