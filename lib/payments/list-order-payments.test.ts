import { eq, sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { listAuthorizations } from "#lib/holds/execution-store.ts";
import { changedReservations } from "#lib/holds/tables.ts";
import * as contract from "#lib/payments/contract.ts";
import { listPayments } from "#lib/payments/list-payments.ts";
import { paymentsOfKey } from "#lib/payments/search-store.ts";
import { approve, checkoutScene, previewed, read, reviewed, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newOrganization } from "#test/identity.ts";
import { seedPayments } from "#test/many-payments.ts";
import { endQuoteOf, goOn, newOrderKey, place } from "#test/orders.ts";
import { planOf } from "#test/plan.ts";
import { send, type Credential } from "#test/tenant.ts";

useDatabase();

const idsOf = async (as: Credential, idempotencyKey: string): Promise<readonly string[]> => {
  const query = `?${new URLSearchParams({ idempotencyKey })}`;
  const { data } = await send(contract.listPayments, listPayments, { as, query });
  return data.items.map(({ authorization }) => authorization.authorizationId);
};

describe("listPayments by the idempotency key of an order", () => {
  let shop: HostileStorefront;
  let scene: CheckoutScene;
  beforeEach(async () => {
    shop = await openHostileStorefront();
    scene = await checkoutScene();
  });
  afterEach(() => shop.close());

  test("finds the payment of placeOrder, for its own organization only", async () => {
    const key = newOrderKey();
    const { data } = await place(scene, shop, key);
    expect(data.intent?.idempotencyKey).toBe(key);
    expect(await idsOf(scene.agent.credential, key)).toEqual([data.authorization?.authorizationId]);
    expect(await idsOf((await newOrganization()).credential, key)).toEqual([]);
  });

  test("finds the earlier payments of an order whose quotes expired too, newest first", async () => {
    const key = newOrderKey();
    const made: (string | undefined)[] = [];
    for (let attempt = 1; attempt <= 3; attempt++) {
      const { data } = await place(scene, shop, key);
      made.push(data.authorization?.authorizationId);
      await endQuoteOf(key);
      await database()
        .update(changedReservations)
        .set({ expiresAt: new Date(Date.now() - 1_000) })
        .where(eq(changedReservations.mandateId, scene.mandateId));
    }
    expect(new Set(made).size).toBe(3);
    expect(await idsOf(scene.agent.credential, key)).toEqual(made.toReversed());
  });

  test("finds the payment of continueCheckout", async () => {
    const checkoutIntentId = await previewed(shop, scene.agent.credential);
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    const { data } = await read(checkoutIntentId, scene.agent.credential);
    const key = newOrderKey();
    const { data: order } = await goOn(scene, checkoutIntentId, data.continuationToken ?? "", key);
    expect(await idsOf(scene.agent.credential, key)).toEqual([order.authorization?.authorizationId]);
  });
});

test("payments are found by an idempotency key through indexes, however many there are", async () => {
  await seedPayments("org_keys", 20_000);
  await database().execute(sql`
    INSERT INTO orders (order_id, organization_id, environment, subject_id, mandate_id, slot, fingerprint, idempotency_key,
      storefront_url, status, attempt, authorization_id)
    SELECT intent_id, organization_id, environment, subject_id, mandate_id, 'order ' || slot, 'f', 'k', 'https://shop.example', 'new', 3,
      authorization_id FROM authorizations WHERE organization_id = 'org_keys'`);
  const owner = { organizationId: "org_keys", environment: "sandbox" };
  const statement = paymentsOfKey(owner, "k7");
  const query = { toSQL: () => new PgDialect().sqlToQuery(statement) };
  const { whole, indexes } = await planOf(query, ["authorizations", "executions", "orders"]);
  expect(whole).toEqual([]);
  expect(new Set(indexes)).toEqual(
    new Set(["authorizations_slot", "executions_slot", "orders_slot", "authorizations_intent_once"]),
  );
  const found = listAuthorizations(database(), owner, { authorizationIds: ["aut_7", "aut_8"] }, null, 101);
  expect(await planOf(found, [])).toMatchObject({ whole: [], indexes: expect.arrayContaining(["authorizations_pkey"]) });
});
