import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GATE } from "#lib/command/gate-store.ts";
import { database } from "#lib/db/client.ts";
import { organization } from "#lib/identity/tables.ts";
import { sellers } from "#lib/sellers/tables.ts";
import { approve, checkoutScene, confirmPassword, open, previewed, takeBack, view, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newMember, newOrganization } from "#test/identity.ts";
import { activeMandate } from "#test/mandates.ts";
import { authorized } from "#test/payments.ts";
import { newSeller, randomAddress } from "#test/sellers.ts";

const databaseOf = useDatabase();

let shop: HostileStorefront;
beforeAll(async () => {
  shop = await openHostileStorefront();
});
afterAll(() => shop.close());

/** Marks the payee of the checkout as paid before, so that only the amount can require a step-up (a new proof of identity). */
const paidBefore = (mandateId: string, checkoutIntentId: string) =>
  database().execute(sql`INSERT INTO mandate_sellers
    SELECT ${mandateId}, coalesce(seller_id, domain || ' ' || lower(pay_to)), now() FROM checkout_intents
    WHERE checkout_intent_id = ${checkoutIntentId} ON CONFLICT DO NOTHING`);

/** Makes a checkout at an unverified storefront. Each item costs 12.50 USDC. */
async function basket(scene: CheckoutScene, quantity: number): Promise<string> {
  const items = [{ productId: "tee", variantId: "tee-m", quantity }];
  const checkoutIntentId = await previewed(shop, scene.agent.credential, { items, mandateId: scene.mandateId });
  await paidBefore(scene.mandateId, checkoutIntentId);
  return checkoutIntentId;
}

const stepUpOf = async (checkoutIntentId: string, { person }: Pick<CheckoutScene, "person">) => {
  const { required, reasons, limit } = (await view(checkoutIntentId, person.credential)).stepUp;
  return { required, reasons, ...(limit && { limit }) };
};

const roomFor = async (checkoutIntentId: string, { person }: Pick<CheckoutScene, "person">) =>
  (await view(checkoutIntentId, person.credential)).stepUp.room;

const approved = async (checkoutIntentId: string, { person }: Pick<CheckoutScene, "person">) => {
  await view(checkoutIntentId, person.credential);
  const { status, problem } = await approve(checkoutIntentId, person.credential);
  return status === 200 ? "approved" : problem.code;
};

const free = { required: false, reasons: [] };

describe("a payee that is not verified", () => {
  test("needs a step-up above 25 units, including what the person approved in the last 24 hours, and not at 25", async () => {
    const scene = await checkoutScene();
    const first = await basket(scene, 2);
    expect(await stepUpOf(first, scene)).toEqual(free);
    expect(await roomFor(first, scene)).toBe("25");
    expect(await approved(first, scene)).toBe("approved");
    const second = await basket(scene, 1);
    expect(await roomFor(second, scene)).toBe("0");
    expect(await stepUpOf(second, scene)).toEqual({
      required: true,
      reasons: ["unverifiedPayee"],
      limit: { above: "25.00 USDC", lately: "25.00 USDC" },
    });
    expect(await approved(second, scene)).toBe("step_up_required");
    await confirmPassword(second, scene.person.credential);
    expect(await approved(second, scene)).toBe("approved");
  });

  test("needs a step-up if only the amount is above the limit, and the page names the limit", async () => {
    const scene = await checkoutScene();
    expect(await stepUpOf(await basket(scene, 3), scene)).toEqual({
      required: true,
      reasons: ["unverifiedPayee"],
      limit: { above: "25.00 USDC" },
    });
  });

  test("counts approvals that the person sends at the same time under several mandates", async () => {
    const scene = await checkoutScene();
    const other = { ...scene, mandateId: await activeMandate(scene.person.credential, { policy: open }) };
    const baskets = [await basket(scene, 2), await basket(other, 2)];
    for (const one of baskets) expect(await stepUpOf(one, scene)).toEqual(free);
    // Both batches of approvals wait for this lock (the revocation gate), so that they run at the same time afterwards.
    const gate = await hold(databaseOf().url, `SELECT pg_advisory_xact_lock(${GATE}::bigint)`);
    const sent = baskets.map((one) => approve(one, scene.person.credential));
    await gate.blocks(2);
    await gate.release();
    const replies = await Promise.all(sent);
    expect(replies.map(({ status, problem }) => (status === 200 ? "approved" : problem.code)).toSorted()).toEqual([
      "approved",
      "step_up_required",
    ]);
  });

  test("approvals that were taken back, that are a day old or that a colleague gave do not count", async () => {
    const scene = await checkoutScene();
    const back = await basket(scene, 2);
    await approved(back, scene);
    await takeBack(back, scene.person.credential);
    const old = await basket(scene, 1);
    expect(await stepUpOf(old, scene)).toEqual(free);
    await approved(old, scene);
    const colleague = await newMember(scene.person, "approver");
    const next = await basket(scene, 2);
    expect((await stepUpOf(next, scene)).reasons).toEqual(["unverifiedPayee"]);
    expect(await stepUpOf(next, { person: colleague })).toEqual(free);
    await database().execute(sql`ALTER TABLE checkout_approvals DISABLE TRIGGER USER`);
    await database().execute(sql`UPDATE checkout_approvals SET approved_at = approved_at - interval '25 hours'`);
    await database().execute(sql`ALTER TABLE checkout_approvals ENABLE TRIGGER USER`);
    expect(await stepUpOf(next, scene)).toEqual(free);
  });

  test("the owner's limits replace the defaults", async () => {
    const scene = await checkoutScene();
    const checkoutIntentId = await basket(scene, 3);
    const limits = (change: { stepUpAbove?: string; stepUpAboveUnverified?: string }) =>
      database().update(organization).set(change).where(eq(organization.id, scene.person.organizationId));
    await limits({ stepUpAboveUnverified: "37.5" });
    expect(await stepUpOf(checkoutIntentId, scene)).toEqual(free);
    await limits({ stepUpAboveUnverified: "37.499999" });
    expect((await stepUpOf(checkoutIntentId, scene)).reasons).toEqual(["unverifiedPayee"]);
    await limits({ stepUpAboveUnverified: "37.5", stepUpAbove: "37" });
    expect((await stepUpOf(checkoutIntentId, scene)).reasons).toEqual(["amount"]);
  });
});

describe("a verified payee", () => {
  /** Requests a payment of 60 USDC to the seller under the scene's mandate. The payment waits for a person's approval. */
  async function payment(scene: CheckoutScene, seller: Awaited<ReturnType<typeof newSeller>>): Promise<string> {
    const { mandateId, agent, person } = scene;
    const owner = person;
    const { policyDecision } = await authorized({
      organizationId: person.organizationId,
      person,
      agent,
      seller,
      sellerOrganizationId: person.organizationId,
      owner,
      mandateId,
    });
    const checkoutIntentId =
      policyDecision.reasons
        .find(({ href }) => href)
        ?.href?.split("/")
        .at(-1) ?? "";
    await paidBefore(mandateId, checkoutIntentId);
    return checkoutIntentId;
  }

  test("needs a step-up above 100 units, including what the person approved in the last 24 hours", async () => {
    const scene = await checkoutScene({ mandate: { policy: { ...open, approval: { mode: "always" } } } });
    const owner = await newOrganization({ productRoles: ["seller"], name: "Shop" });
    const seller = await newSeller(owner.credential, { price: "60", payTo: randomAddress() });
    await database().update(sellers).set({ verified: true }).where(eq(sellers.sellerId, seller.sellerId));
    const first = await payment(scene, seller);
    expect(await stepUpOf(first, scene)).toEqual(free);
    expect(await roomFor(first, scene)).toBe("100");
    expect(await approved(first, scene)).toBe("approved");
    const second = await payment(scene, seller);
    expect(await roomFor(second, scene)).toBe("40");
    expect(await stepUpOf(second, scene)).toEqual({
      required: true,
      reasons: ["amount"],
      limit: { above: "100.00 USDC", lately: "60.00 USDC" },
    });
    expect(await approved(second, scene)).toBe("step_up_required");
  });
});
