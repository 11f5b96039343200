import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { orders } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { approve, checkoutScene, open, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newOrderKey, place } from "#test/orders.ts";

const databaseOf = useDatabase();

let shop: HostileStorefront;
beforeAll(async () => {
  shop = await openHostileStorefront();
});
afterAll(() => shop.close());

test("an order whose approved payment starts while its facts are read is not quoted and decided again", async () => {
  const scene = await checkoutScene({ mandate: { policy: { ...open, approval: { mode: "always" } } } });
  const key = newOrderKey();
  const checkoutIntentId = (await place(scene, shop, key)).data.nextAction.url?.split("/").at(-1) ?? "";
  await reviewed(checkoutIntentId, scene.person);
  await approve(checkoutIntentId, scene.person.credential);
  // The same changes as those of executePayment, in one transaction.
  const payment = await hold(databaseOf().url, "LOCK TABLE checkout_intents IN ACCESS EXCLUSIVE MODE");
  const repeated = place(scene, shop, key);
  await payment.blocks();
  await payment.sql`
    INSERT INTO executions (execution_id, authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode,
      settlement_status, next_check_at)
    SELECT ${newId("execution")}, authorization_id, organization_id, environment, mandate_id, subject_id, 'offchainAuthorized',
      'unknown', clock_timestamp() + interval '1 hour' FROM orders WHERE idempotency_key = ${key}`;
  await payment.sql`UPDATE checkout_approvals SET status = 'consumed' WHERE checkout_intent_id = ${checkoutIntentId}`;
  for (const status of ["authorized", "executing"])
    await payment.sql`UPDATE checkout_intents SET status = ${status} WHERE checkout_intent_id = ${checkoutIntentId}`;
  await payment.sql.unsafe("COMMIT");
  expect((await repeated).data.status).toBe("processing");
  const [order] = await database().select().from(orders).where(eq(orders.idempotencyKey, key));
  expect(order).toMatchObject({ attempt: 1, checkoutIntentId });
});
