import { eq, sql } from "drizzle-orm";
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { orders } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { checkoutScene, items, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newOrderKey, place, settlesThrough, signedOrder } from "#test/orders.ts";
import { past } from "#test/past.ts";
import { newWallet, useSettlement } from "#test/payments.ts";
import { brokenInvariants } from "#test/proof.ts";
import { startServer, type RunningServer } from "#test/server.ts";
import { stockFacilitator } from "#test/shop.ts";

const databaseOf = useDatabase();
const chain = useSettlement();
const wallet = newWallet();

let shop: HostileStorefront;
let scene: CheckoutScene;
beforeAll(async () => {
  await chain().mint(wallet.address, 1_000_000_000n);
  // The test decides where a server stops: these triggers wait for an advisory lock that the test holds.
  await database().execute(sql`CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(7, TG_ARGV[0]::int); RETURN NEW; END $$`);
  const points = [
    [1, "AFTER INSERT ON executions FOR EACH ROW"],
    [2, "BEFORE UPDATE ON orders FOR EACH ROW WHEN (OLD.status <> 'processing' AND NEW.status = 'processing')"],
    [3, "BEFORE UPDATE ON orders FOR EACH ROW WHEN (OLD.answer IS NULL AND NEW.answer IS NOT NULL)"],
    [4, "BEFORE UPDATE ON orders FOR EACH ROW WHEN (NEW.status = 'completed')"],
  ] as const;
  for (const [number, when] of points) {
    await database().execute(sql.raw(`CREATE TRIGGER stop_${number} ${when} EXECUTE FUNCTION wait_for_test(${number})`));
  }
});
beforeEach(async () => {
  shop = await openHostileStorefront();
  settlesThrough(shop, await stockFacilitator(chain()));
  scene = await checkoutScene();
});
afterEach(async () => {
  await shop.close();
  expect(await brokenInvariants()).toEqual([]);
});

async function started(): Promise<RunningServer> {
  const server = await startServer({ OUTBOUND_LOOPBACK: shop.domain });
  onTestFinished(() => server.kill());
  return server;
}

/** Ends the order's lease, and makes its next check due. */
const timePasses = (key: string) =>
  database().update(orders).set({ leasedUntil: null, nextCheckAt: past }).where(eq(orders.idempotencyKey, key));

const orderOf = async (key: string) => (await database().select().from(orders).where(eq(orders.idempotencyKey, key)))[0];

/** Waits until no other connection of this database has an open transaction. */
const ended = () =>
  expect
    .poll(async () => {
      const open = await database().execute(sql`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`);
      return open.length;
    })
    .toBe(0);

const pay = ({ url }: RunningServer, idempotencyKey: string, paymentCredential: string) =>
  fetch(`${url}/api/v1/agent/commerce/place-order`, {
    method: "POST",
    headers: { "content-type": "application/json", ...scene.agent.credential },
    body: JSON.stringify({ storefrontUrl: shop.url, mandateId: scene.mandateId, items, idempotencyKey, paymentCredential }),
  }).then(
    (reply) => reply.status,
    () => null,
  );

describe("kill -9 of a server that pays for an order", () => {
  test.each([
    ["before the credential is bound: nothing is paid, and the agent can go on", 1, "paymentCredentialRequired"],
    ["before the payment is stored in the order: the next server continues without a retry", 2, "completed"],
    ["before the storefront's answer is stored: the next server asks the storefront again", 3, "completed"],
    ["before the order is stored as completed: the next server completes it", 4, "completed"],
  ])("%s", async (_name, at, end) => {
    const before = await chain().balanceOf(wallet.address);
    const key = newOrderKey();
    const first = await place(scene, shop, key);
    const paymentCredential = await signedOrder(wallet, first);
    const server = await started();
    const point = await hold(databaseOf().url, `SELECT pg_advisory_xact_lock(7, ${at})`);
    const cut = pay(server, key, paymentCredential);
    await point.blocks();
    await server.kill();
    expect(await cut).toBeNull();
    await point.release();
    await ended();
    expect(await brokenInvariants()).toEqual([]);
    // At points 3 and 4 the shop has already settled. From now on it reports a settlement without settling again, as shops do
    // for a repeated order.
    if (at > 2) shop.settle = null;

    await timePasses(key);
    await started();
    await expect.poll(async () => (await orderOf(key))?.status === end && (await orderOf(key))?.nextCheckAt === null).toBe(true);
    const attempts = await database()
      .select({ status: executions.settlementStatus })
      .from(executions)
      .where(eq(executions.mandateId, scene.mandateId));
    expect(attempts).toEqual(at === 1 ? [] : [{ status: "settled" }]);
    expect(before - (await chain().balanceOf(wallet.address))).toBe(at === 1 ? 0n : 25_000_000n);
    expect(new Set(shop.credentials).size).toBe(at === 1 ? 0 : 1);
  });
});
