import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ServerConnection } from "#lib/db/connection.ts";
import { approve, checkoutScene, open, previewed, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { activeMandate } from "#test/mandates.ts";
import { newOrderKey, place } from "#test/orders.ts";

useDatabase();

let shop: HostileStorefront;
beforeAll(async () => {
  shop = await openHostileStorefront();
});
afterAll(() => shop.close());

/** One of them is the lock of the person, which is sent with its neighbours and takes no round trip (ADR 0060). */
const AT_MOST = 13;

const ways = {
  "without an idempotency key": { policy: {}, keyed: false },
  "with an idempotency key": { policy: {}, keyed: true },
  "of a payment that its mandate asks about": { policy: { approval: { mode: "always" } }, keyed: true },
} as const;

test.for(Object.entries(ways))(
  "approveCheckout %s sends at most thirteen statements, with two and twenty mandates",
  async ([, way]) => {
    const { agent, person, mandateId } = await checkoutScene({ mandate: { policy: { ...open, ...way.policy } } });
    const asked = async () => {
      const { data } = await place({ agent, mandateId }, shop, newOrderKey());
      return data.nextAction.url?.split("/").at(-1) ?? "";
    };
    const statements = async () => {
      const checkoutIntentId = "approval" in way.policy ? await asked() : await previewed(shop, agent.credential);
      await reviewed(checkoutIntentId, person);
      const key = way.keyed ? `approve-${checkoutIntentId}` : undefined;
      const sent = vi.spyOn(ServerConnection.prototype, "send");
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
