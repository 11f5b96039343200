import { eq, inArray } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sweepCheckouts } from "#lib/commerce/sweep-checkouts.ts";
import { checkoutApprovals, checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { reservations } from "#lib/holds/tables.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
import { approve, cancel, checkoutScene, open, preview, previewed, reject, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newMember } from "#test/identity.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate } from "#test/mandates.ts";
import { send } from "#test/tenant.ts";

useDatabase();

let shop: HostileStorefront;
beforeAll(async () => {
  shop = await openHostileStorefront();
});
afterAll(() => shop.close());

/** Makes a checkout whose page two people have opened, and two mandates that can pay it. */
async function contested({ named = true } = {}) {
  const scene = await checkoutScene();
  const other = await activeMandate(scene.person.credential, { policy: open });
  const colleague = await newMember(scene.person, "approver");
  const checkoutIntentId = await previewed(shop, scene.agent.credential, named ? { mandateId: scene.mandateId } : {});
  await reviewed(checkoutIntentId, scene.person);
  await reviewed(checkoutIntentId, colleague);
  return { ...scene, other, colleague, checkoutIntentId };
}
type Contested = Awaited<ReturnType<typeof contested>>;

async function outcomeOf({ checkoutIntentId, mandateId, other }: Contested) {
  const db = database();
  const [checkout] = await db.select().from(checkoutIntents).where(eq(checkoutIntents.checkoutIntentId, checkoutIntentId));
  const decisions = await db.select().from(checkoutApprovals).where(eq(checkoutApprovals.checkoutIntentId, checkoutIntentId));
  const holds = await db
    .select()
    .from(reservations)
    .where(inArray(reservations.mandateId, [mandateId, other]));
  const held = holds.filter(({ status }) => status === "held");
  return { status: checkout?.status, decisions, held };
}

describe("decisions at the same time", () => {
  test("approvals under two mandates, a rejection and a cancellation leave one decision and at most one hold", async () => {
    for (let round = 0; round < 8; round += 1) {
      const one = await contested({ named: round < 4 });
      const { checkoutIntentId, person, colleague, agent, mandateId, other } = one;
      const calls = [
        () => approve(checkoutIntentId, person.credential, { mandateId }),
        () => approve(checkoutIntentId, colleague.credential, { mandateId: other }),
        () => reject(checkoutIntentId, colleague.credential),
        () => cancel(checkoutIntentId, agent.credential),
      ];
      const replies = await Promise.all([...calls.slice(round % 4), ...calls.slice(0, round % 4)].map((call) => call()));
      for (const { status } of replies) expect([200, 409]).toContain(status);
      const { status, decisions, held } = await outcomeOf(one);
      expect(["approved", "rejected", "canceled"]).toContain(status);
      expect(decisions.length).toBeLessThanOrEqual(1);
      expect(held.map((hold) => hold.mandateId)).toEqual(status === "approved" ? [decisions[0]?.mandateId] : []);
      expect(await brokenSums()).toEqual([]);
    }
  });

  test("an approval while the price rises: approved as shown, or superseded with nothing reserved", async () => {
    for (let round = 0; round < 6; round += 1) {
      shop.fault = "clean";
      const one = await contested();
      shop.fault = "priceRises";
      const again = { mandateId: one.mandateId };
      await Promise.all([
        preview(shop, one.agent.credential, again),
        approve(one.checkoutIntentId, one.person.credential, again),
      ]);
      shop.fault = "clean";
      const { status, decisions, held } = await outcomeOf(one);
      expect(decisions.length).toBe(held.length);
      for (const hold of held) expect(hold.amount).toBe(25_000_000n);
      expect(["approved", "awaiting_approval", "superseded"]).toContain(status);
      expect(await brokenSums()).toEqual([]);
    }
  });

  test("an approval and the revocation of its mandate: in any order, no amount stays reserved after the next sweep", async () => {
    for (let round = 0; round < 6; round += 1) {
      const one = await contested();
      await Promise.all([
        approve(one.checkoutIntentId, one.person.credential, { mandateId: one.mandateId }),
        send(mandates.revokeMandate, revokeMandate, { as: one.person.credential, id: one.mandateId }),
      ]);
      await Promise.all([sweepHolds(), sweepCheckouts()]);
      await sweepCheckouts();
      const { status, held } = await outcomeOf(one);
      expect(["awaiting_approval", "canceled"]).toContain(status);
      expect(held).toEqual([]);
      expect(await brokenSums()).toEqual([]);
    }
  });
});
