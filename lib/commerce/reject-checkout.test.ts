import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkoutApprovals, checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { reservations } from "#lib/holds/tables.ts";
import { approve, cancel, checkoutScene, previewed, reject, reviewed, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newOrganization } from "#test/identity.ts";
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

describe("rejectCheckout", () => {
  test("200 stores who declined and why, holds nothing, and declining again changes nothing", async () => {
    const first = await reject(checkoutIntentId, scene.person.credential, { reason: " We have enough. " });
    expect([first.status, first.data.intent.status]).toEqual([200, "rejected"]);
    const again = await reject(checkoutIntentId, scene.person.credential, { reason: "Another reason." });
    expect([again.status, again.data.intent.status]).toEqual([200, "rejected"]);
    const rows = await database()
      .select()
      .from(checkoutApprovals)
      .where(eq(checkoutApprovals.checkoutIntentId, checkoutIntentId));
    const { userId } = scene.person;
    expect(rows).toMatchObject([{ status: "rejected", approvedBySubjectId: userId, reason: "We have enough." }]);
    expect(await holds()).toEqual([]);
    const events = (await eventsOf(checkoutIntentId)).filter(({ type }) => type === "checkout.rejected");
    expect(events).toMatchObject([{ actorId: userId, metadata: { reason: "We have enough." } }]);
  });

  test("409 after an approval, whose hold stays, and after a cancellation", async () => {
    await reviewed(checkoutIntentId, scene.person);
    await approve(checkoutIntentId, scene.person.credential);
    const late = await reject(checkoutIntentId, scene.person.credential);
    expect([late.status, late.problem.code]).toEqual([409, "approval_already_decided"]);
    expect(await holds()).toEqual(["held"]);
    await cancel(checkoutIntentId, scene.agent.credential);
    expect((await reject(checkoutIntentId, scene.person.credential)).problem.code).toBe("checkout_closed");
  });

  test("410 after the end of the checkout, and no event", async () => {
    await expire();
    const { status, problem } = await reject(checkoutIntentId, scene.person.credential);
    expect([status, problem.code]).toEqual([410, "intent_expired"]);
    expect(await typesOf()).not.toContain("checkout.rejected");
  });

  test("400 points at an empty reason, 403 for the agent, 404 for another organization", async () => {
    expect((await reject(checkoutIntentId, scene.person.credential, { reason: " " })).problem.errors?.[0]?.pointer).toBe(
      "/reason",
    );
    expect((await reject(checkoutIntentId, scene.agent.credential)).status).toBe(403);
    expect((await reject(checkoutIntentId, (await newOrganization()).credential)).status).toBe(404);
    expect(await typesOf()).not.toContain("checkout.rejected");
  });

  test("a repeat with the same idempotency key answers the same bytes", async () => {
    const first = await reject(checkoutIntentId, scene.person.credential, {}, "reject-once");
    const again = await reject(checkoutIntentId, scene.person.credential, {}, "reject-once");
    expect([again.headers.get("idempotent-replayed"), again.data]).toEqual(["true", first.data]);
  });
});
