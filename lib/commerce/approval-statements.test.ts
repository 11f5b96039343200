import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Connection } from "#lib/db/connection.ts";
import { approve, checkoutScene, previewed, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { activeMandate } from "#test/mandates.ts";

useDatabase();

let shop: HostileStorefront;
beforeAll(async () => {
  shop = await openHostileStorefront();
});
afterAll(() => shop.close());

const AT_MOST = 12;

test.for([["without a key"], ["with a key"]] as const)(
  "approveCheckout %s sends at most twelve statements, however many mandates could pay",
  async ([how]) => {
    const { agent, person, mandateId } = await checkoutScene();
    const statements = async () => {
      const checkoutIntentId = await previewed(shop, agent.credential);
      await reviewed(checkoutIntentId, person);
      const key = how === "with a key" ? `approve-${checkoutIntentId}` : undefined;
      const sent = vi.spyOn(Connection.prototype, "send");
      expect((await approve(checkoutIntentId, person.credential, { mandateId }, key)).status).toBe(200);
      const count = sent.mock.calls.length;
      sent.mockRestore();
      return count;
    };
    await activeMandate(person.credential);
    await statements();
    const two = await statements();
    expect(two).toBeLessThanOrEqual(AT_MOST);
    for (let more = 0; more < 18; more += 1) await activeMandate(person.credential);
    await statements();
    expect(await statements()).toBe(two);
  },
);
