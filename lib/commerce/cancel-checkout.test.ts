import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkoutApprovals, checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { reservations } from "#lib/holds/tables.ts";
import { approve, cancel, checkoutScene, previewed, reject, reviewed, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newKey, newOrganization } from "#test/identity.ts";
import { eventsOf } from "#test/mandates.ts";

useDatabase();

let shop: HostileStorefront;
let scene: CheckoutScene;
let checkoutIntentId: string;

beforeAll(async () => {
  shop = await openHostileStorefront();
});
afterAll(() => shop.close());
beforeEach(async () => {
  scene = await checkoutScene();
  checkoutIntentId = await previewed(shop, scene.agent.credential);
});

const holds = async () =>
  (await database().select().from(reservations).where(eq(reservations.mandateId, scene.mandateId))).map(({ status }) => status);
const typesOf = async () => (await eventsOf(checkoutIntentId)).map(({ type }) => type);
const expire = () =>
  database()
    .update(checkoutIntents)
    .set({ expiresAt: sql`clock_timestamp() - interval '1 second'` })
    .where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId));

describe("cancelCheckout", () => {
  test("200 closes the checkout with one event; canceling again answers the same", async () => {
    const first = await cancel(checkoutIntentId, scene.agent.credential);
    expect([first.status, first.data.intent.status]).toEqual([200, "canceled"]);
    const again = await cancel(checkoutIntentId, scene.agent.credential);
    expect([again.status, again.data.intent.status]).toEqual([200, "canceled"]);
    expect((await typesOf()).filter((type) => type === "checkout.canceled")).toHaveLength(1);
    expect((await eventsOf(checkoutIntentId)).at(-1)?.actorId).toBe(scene.agent.serviceAccountId);
  });

  test("200 after an approval revokes the approval and releases its hold", async () => {
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    expect(await holds()).toEqual(["held"]);
    expect((await cancel(checkoutIntentId, scene.agent.credential)).data.intent.status).toBe("canceled");
    expect(await holds()).toEqual(["released"]);
    const rows = await database()
      .select()
      .from(checkoutApprovals)
      .where(eq(checkoutApprovals.checkoutIntentId, checkoutIntentId));
    expect(rows).toMatchObject([{ status: "revoked", resolvedAt: expect.any(Date) }]);
  });

  test("403 for another agent of the organization, 404 for another organization", async () => {
    const colleague = await newKey(scene.person);
    expect((await cancel(checkoutIntentId, colleague.credential)).problem.code).toBe("forbidden");
    const foreign = await newKey(await newOrganization());
    expect((await cancel(checkoutIntentId, foreign.credential)).status).toBe(404);
    expect(await typesOf()).not.toContain("checkout.canceled");
  });

  test("409 after a rejection, 410 after the end of the checkout", async () => {
    await expire();
    const late = await cancel(checkoutIntentId, scene.agent.credential);
    expect([late.status, late.problem.code]).toEqual([410, "intent_expired"]);
    checkoutIntentId = await previewed(shop, scene.agent.credential);
    await reject(checkoutIntentId, scene.person.credential);
    const decided = await cancel(checkoutIntentId, scene.agent.credential);
    expect([decided.status, decided.problem.code]).toEqual([409, "approval_already_decided"]);
  });

  test("a repeat with the same idempotency key answers the same bytes", async () => {
    const first = await cancel(checkoutIntentId, scene.agent.credential, "cancel-once");
    const again = await cancel(checkoutIntentId, scene.agent.credential, "cancel-once");
    expect([again.headers.get("idempotent-replayed"), again.data]).toEqual(["true", first.data]);
  });
});
