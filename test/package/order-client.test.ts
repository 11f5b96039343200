import { sql } from "drizzle-orm";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test, vi } from "vitest";
import * as sdk from "../../sdk/src/index.ts";
import { orders } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { forget } from "#lib/process.ts";
import { minutes } from "#lib/time.ts";
import { approve, checkoutScene, items, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront } from "#test/hostile-storefront.ts";
import { activeMandate, assets } from "#test/mandates.ts";
import { settlesThrough } from "#test/orders.ts";
import { useSettlement } from "#test/payments.ts";
import { settling } from "#test/settling.ts";
import { listenService, stockFacilitator } from "#test/shop.ts";

/* `order` of the package `countersign`, with the real service, a real chain and a storefront that settles on it. */

useDatabase();
const chain = useSettlement();

async function orderScene(mode: "never" | "always") {
  const { person, agent } = await checkoutScene();
  const service = await listenService();
  const shop = await openHostileStorefront();
  onTestFinished(() => void Promise.all([service.close(), shop.close()]));
  settlesThrough(shop, await stockFacilitator(chain()));
  process.env["OUTBOUND_LOOPBACK"] = new URL(shop.url).host;
  forget("env", "outbound/guarded-fetch", "payments/probe-domain");
  const limits = { perPayment: "100", total: "1000" };
  const policy = { assets, limits, sellers: { unregistered: "allow" }, approval: { mode } };
  const mandateId = await activeMandate(person.credential, { policy });
  const wallet = privateKeyToAccount(generatePrivateKey());
  await chain().mint(wallet.address, 1_000_000_000n);
  const place = (operation: string, options: Partial<sdk.CountersignOptions> = {}) => {
    const pay = sdk.countersign({ url: service.url, apiKey: agent.apiKey, mandateId, wallet, ...options });
    return settling(pay.order({ storefrontUrl: shop.url, items, operation }));
  };
  return { person, shop, place };
}

test("an order is signed, paid and placed by one call, once per operation", async () => {
  const { place } = await orderScene("never");
  const placed = await place("two tees, please");
  expect(placed.status).toBe("completed");
  expect((await place("two tees, please")).quote.quoteId).toBe(placed.quote.quoteId);
});

test("the error of an order whose payment fails names the cause and what to do", async () => {
  const { place } = await orderScene("never");
  const poor = privateKeyToAccount(generatePrivateKey());
  const error = await place("a poor wallet", { wallet: poor }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(sdk.OrderNotPlaced);
  expect(error).toMatchObject({
    message: "The order is failed: insufficient_funds. Call again with the same operation after the cause is corrected.",
    code: "insufficient_funds",
    nextActions: [{ type: "fund_wallet", address: poor.address, asset: "USDC" }, { type: "retry_later" }],
  });
  expect((await place("a poor wallet")).status).toBe("completed");
});

test("the error of an order without a wallet names the page where a wallet is chosen", async () => {
  const { place } = await orderScene("never");
  const error = await place("no wallet", { wallet: undefined as unknown as sdk.Wallet }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ order: { status: "paymentCredentialRequired" }, code: undefined });
  expect((error as sdk.OrderNotPlaced).nextActions).toMatchObject([
    { type: "connect_wallet", href: expect.stringMatching(/\/mandates\/.+\/edit$/) },
  ]);
});

test("an order that is processing is completed by the same call, even if a person needed six minutes to approve it", async () => {
  const { person, shop, place } = await orderScene("always");
  const settle = shop.settle!;
  // The shop settles the payment, fails once, and then answers again, so the order is processing for a while.
  shop.fault = "paid500";
  shop.settle = async (...payment) => {
    const settled = await settle(...payment);
    setImmediate(() => Object.assign(shop, { fault: "clean", settle: null }));
    return settled;
  };
  // The call begins six minutes ago, and the person approves now.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - minutes(6) });
  onTestFinished(() => void vi.useRealTimers());
  const onApproval = async ({ url }: sdk.ApprovalRequest): Promise<void> => {
    const id = new URL(url).pathname.split("/").at(-1) ?? "";
    await reviewed(id, person);
    expect((await approve(id, person.credential)).status).toBe(200);
    vi.useRealTimers();
  };
  const placed = await place("approved late", { onApproval });
  expect(placed.status).toBe("completed");
});

test("an order is placed although a process that ended has leased it for longer than a call is repeated", async () => {
  const { place } = await orderScene("never");
  const another = { lease: "req_ended", leasedUntil: sql`statement_timestamp() + interval '80 seconds'` };
  let asked = 0;
  const counting: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (!String(input instanceof Request ? input.url : input).endsWith("/place-order")) return answer;
    asked += 1;
    // The first call places the order. Five refused tries make one call of the package.
    if (asked === 1) await database().update(orders).set(another);
    if (asked === 6) await database().update(orders).set({ leasedUntil: null });
    return answer;
  };
  expect((await place("leased", { fetch: counting })).status).toBe("completed");
  expect(asked).toBe(7);
});
