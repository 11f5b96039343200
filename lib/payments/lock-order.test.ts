import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { lockApprovers } from "#lib/approvals/decision/batch-store.ts";
import { slotOf } from "#lib/command/idempotency.ts";
import { mainPool, pool, type Sql } from "#lib/db/client.ts";
import { lockWithCheckouts } from "#lib/payments/batch/statements.ts";
import { approve, checkoutScene, previewed, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";

useDatabase();

let shop: HostileStorefront;
beforeAll(async () => {
  shop = await openHostileStorefront();
});
afterAll(() => shop.close());

const waiting = async (text = "WITH "): Promise<number> =>
  (await pool()`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND strpos(query, ${text}) > 0`).length;

/** Runs `work` while another transaction holds the locks that `open` takes. */
const beside = (open: (c: Sql) => PromiseLike<unknown>, work: (end: () => Promise<void>) => Promise<void>) =>
  mainPool().use(async (c) => {
    await c`BEGIN`;
    await open(c);
    await work(async () => void (await c`ROLLBACK`));
  });

test("a batch that waits for a mandate's lock has not locked the checkout", async () => {
  const { agent, person, mandateId } = await checkoutScene();
  const checkoutIntentId = await previewed(shop, agent.credential);
  const organizations = [person.organizationId];
  const locks = {
    environment: "sandbox",
    mandateIds: [mandateId],
    organizations,
    checkoutIds: [checkoutIntentId],
    approverIds: [],
  };
  const free = () => pool()`SELECT FROM checkout_intents WHERE checkout_intent_id = ${checkoutIntentId} FOR UPDATE SKIP LOCKED`;
  await beside(
    (c) => c`SELECT FROM mandates WHERE mandate_id = ${mandateId} FOR UPDATE`,
    async (end) => {
      const batch = mainPool().begin(async (c) => {
        const rows = await lockWithCheckouts(c, locks, { of: [], ids: [] });
        expect(rows.map(({ what }) => what as string)).toEqual(["mandate", "locked"]);
        expect(await free()).toHaveLength(0);
      });
      await vi.waitFor(async () => expect(await waiting()).toBe(1), 3_000);
      expect(await free()).toHaveLength(1);
      await end();
      await batch;
    },
  );
});

test("an approval waits for another approval by the same person, even if mandate and checkout are not locked", async () => {
  const { agent, person } = await checkoutScene();
  const checkoutIntentId = await previewed(shop, agent.credential);
  await reviewed(checkoutIntentId, person);
  await beside(
    (c) => lockApprovers(c, [person.userId]),
    async (end) => {
      const approved = approve(checkoutIntentId, person.credential);
      await vi.waitFor(async () => expect(await waiting("'approvals of '")).toBe(1), 3_000);
      await end();
      expect((await approved).status).toBe(200);
    },
  );
});

test("a batch that waits for the idempotency slot of a reply has not locked the head of the audit chain", async () => {
  const { agent, person, mandateId } = await checkoutScene();
  const { organizationId, credential } = person;
  const checkoutIntentId = await previewed(shop, agent.credential);
  await reviewed(checkoutIntentId, person);
  const key = `approve-${checkoutIntentId}`;
  const slot = slotOf({ organizationId, environment: "sandbox", operationId: "approveCheckout", key });
  const free = () => pool()`SELECT FROM audit_heads WHERE chain = ${organizationId} FOR UPDATE SKIP LOCKED`;
  await beside(
    (c) => c`INSERT INTO idempotency (slot, fingerprint, status, body) VALUES (${slot}, 'other', 200, '{}')`,
    async (end) => {
      const approved = approve(checkoutIntentId, credential, { mandateId }, key);
      await vi.waitFor(async () => expect(await waiting()).toBe(1), 3_000);
      expect(await free()).toHaveLength(1);
      await end();
      expect((await approved).status).toBe(200);
    },
  );
});
