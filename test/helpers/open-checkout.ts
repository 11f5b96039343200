import { afterAll, beforeAll, beforeEach } from "vitest";
import { checkoutScene, previewed, type CheckoutScene } from "#test/checkouts.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";

type OpenCheckout = CheckoutScene & { shop: HostileStorefront; id: string };

/**
 * Starts an online shop before the first test of a file, and opens a checkout of a buyer at this shop before each test. The
 * returned values are set when a test begins. Call this after useDatabase.
 */
export function useCheckout(): OpenCheckout {
  const checkout = {} as OpenCheckout;
  beforeAll(async () => {
    checkout.shop = await openHostileStorefront();
  });
  afterAll(() => checkout.shop.close());
  beforeEach(async () => {
    Object.assign(checkout, await checkoutScene());
    checkout.id = await previewed(checkout.shop, checkout.agent.credential);
  });
  return checkout;
}
