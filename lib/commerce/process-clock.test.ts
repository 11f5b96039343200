import { expect, onTestFinished, test, vi } from "vitest";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { checkoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront } from "#test/hostile-storefront.ts";
import { newOrderKey, place } from "#test/orders.ts";

useDatabase();

const HOUR = 3_600_000;

test("an order's intent expires by the database's time, also if the clock of the process is 30 hours behind", async () => {
  const shop = await openHostileStorefront();
  onTestFinished(() => shop.close());
  shop.fault = "longQuote";
  const scene = await checkoutScene();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 30 * HOUR });
  onTestFinished(() => void vi.useRealTimers());
  const { data } = await place(scene, shop, newOrderKey());
  expect(data.status).toBe("paymentCredentialRequired");
  // The storefront's quote lasts 48 hours by the clock of this process, which is 30 hours behind the database.
  const left = new Date(data.intent!.expiresAt).getTime() - (await clock(database())).getTime();
  expect(left / HOUR).toBeCloseTo(18, 1);
});
