import { setTimeout as pause } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { x402Client } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment } from "@x402/fetch";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Address, Hex } from "viem";
import { startSeller, type Seller } from "../../examples/seller.ts";
import { database } from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN } from "#test/mandates.ts";
import { newWallet, paymentScene, useSettlement } from "#test/payments.ts";
import { startServer, type RunningServer } from "#test/server.ts";
import { ourFacilitator } from "#test/shop.ts";
import { createAgent } from "#test/tenant.ts";

/* A seller and buyers with the standard x402 library on a typical chain: a block every 4 seconds, and 3 confirmations. */

const BLOCK_SECONDS = 4;

useDatabase();
const chain = useSettlement({ blockTime: BLOCK_SECONDS });

let server: RunningServer;
let shop: Seller;
let payTo: Address;
const wallets = Array.from({ length: 5 }, newWallet);
beforeAll(async () => {
  await Promise.all(wallets.map(({ address }) => chain().mint(address, 1_000_000n)));
  process.env["CHAINS"] = (process.env["CHAINS"] ?? "").replace('"confirmations":0', '"confirmations":3');
  server = await startServer();
  const scene = await paymentScene();
  payTo = scene.seller.payTo;
  const { credential } = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
  const close = () => Promise.resolve();
  const facilitator = ourFacilitator({ url: server.url, close }, credential["authorization"] ?? "");
  shop = await startSeller({ facilitator, payTo });
});
afterAll(async () => {
  await shop.close();
  await server.stop();
});

async function buy(): Promise<number> {
  const wallet = wallets.pop()!;
  const pay = wrapFetchWithPayment(fetch, new x402Client().register(CHAIN, new ExactEvmScheme(wallet)));
  const reply = await pay(`${shop.url}/report`);
  expect(await chain().client.getTransactionCount({ address: wallet.address })).toBe(0);
  return reply.status;
}

/** Waits for a sent transaction that is in a block, or in none if `mined` is false. Returns the hash of the newest one. */
async function sent(mined: boolean): Promise<Hex> {
  for (;;) {
    const [row] = await database().execute<{ hash: Hex }>(sql`
      SELECT hash FROM settlement_transactions WHERE status = 'sent' AND (block_number IS NOT NULL) = ${mined} ORDER BY nonce DESC LIMIT 1`);
    if (row) return row.hash;
    await pause(50);
  }
}

const taken = () => chain().balanceOf(payTo);

describe("a standard buyer gets the product of a standard seller, and pays once", () => {
  test("on a chain of 4-second blocks and 3 confirmations, also when a transaction is dropped", async () => {
    const first = buy();
    await chain().client.dropTransaction({ hash: await sent(false) });
    const statuses = await Promise.all([first, buy()]);
    expect(statuses).toEqual([200, 200]);
    expect(await taken()).toBe(500_000n);
  });

  test("through a reorganization of two blocks", async () => {
    const before = await taken();
    const bought = buy();
    await sent(true);
    await chain().client.request({ method: "anvil_reorg" as never, params: [2, []] as never });
    expect((await taken()) - before).toBe(0n);
    expect(await bought).toBe(200);
    expect((await taken()) - before).toBe(250_000n);
  });

  test("when the chain stops, so that the facilitator takes 40 seconds", async () => {
    const before = await taken();
    const began = performance.now();
    const bought = buy();
    await sent(false);
    await chain().client.setIntervalMining({ interval: 0 });
    await pause(23_000);
    await chain().client.setIntervalMining({ interval: BLOCK_SECONDS });
    expect(await bought).toBe(200);
    expect(performance.now() - began).toBeGreaterThan(35_000);
    expect((await taken()) - before).toBe(250_000n);
    expect(shop.served()).toBe(4);
  });
});
