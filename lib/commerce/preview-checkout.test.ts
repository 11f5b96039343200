import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { reservations } from "#lib/holds/tables.ts";
import { checkoutScene, open, preview, previewed, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newKey, newOrganization } from "#test/identity.ts";
import { activeMandate, eventsOf } from "#test/mandates.ts";
import { send } from "#test/tenant.ts";

useDatabase();

let shop: HostileStorefront;
let scene: CheckoutScene;
beforeAll(async () => {
  shop = await openHostileStorefront();
});
afterAll(() => shop.close());
beforeEach(async () => {
  shop.fault = "clean";
  scene = await checkoutScene();
});

describe("previewCheckout", () => {
  test("201 returns the canonical basket, the mandate that would pay and the page to confirm, and reserves nothing", async () => {
    const { status, data } = await preview(shop, scene.agent.credential, { metadata: { note: "for the office" } });
    expect(status).toBe(201);
    const { intent, nextAction } = data;
    expect(intent).toMatchObject({
      ownerSubjectId: scene.agent.serviceAccountId,
      ownerOrganizationId: scene.person.organizationId,
      storefrontUrl: shop.url,
      mandateId: scene.mandateId,
      detectedMandateId: scene.mandateId,
      mandateStatus: "active_match",
      amount: "25",
      displayAmount: "25.00 USDC",
      payTo: shop.payTo,
      tokenDecimals: 6,
      status: "previewed",
      environment: "sandbox",
      effects: { movesFunds: true, createsFulfillmentOrder: true, settlement: "none" },
      canonicalBasket: {
        sellerId: shop.domain,
        lines: [{ productId: "tee", variantId: "tee-m", color: "blue", size: "M", quantity: 2, unitAmount: "12.5" }],
      },
    });
    expect(Date.parse(intent.expiresAt) - Date.parse(intent.createdAt)).toBe(30 * 60_000);
    expect(nextAction).toMatchObject({ type: "openBrowser", url: `${env().BASE_URL}/checkout/${intent.checkoutIntentId}` });
    expect(await database().select().from(reservations)).toEqual([]);
    expect(await eventsOf(intent.checkoutIntentId)).toMatchObject([
      { type: "checkout.previewed", actorId: scene.agent.serviceAccountId },
    ]);
  });

  test("the same key replays the same bytes without asking the storefront again", async () => {
    const body = { idempotencyKey: "one-key" };
    const first = await preview(shop, scene.agent.credential, body);
    const asked = shop.asked.length;
    const again = await preview(shop, scene.agent.credential, body);
    expect(again.data).toEqual(first.data);
    expect(shop.asked).toHaveLength(asked);
    expect((await preview(shop, scene.agent.credential, { ...body, mandateId: scene.mandateId })).problem.code).toBe(
      "idempotency_key_reused",
    );
  });

  test("20 previews of one basket under one mandate create one checkout", async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => preview(shop, scene.agent.credential)));
    const opened = new Set(replies.filter(({ status }) => status === 201).map(({ data }) => data.intent.checkoutIntentId));
    expect(opened.size).toBe(1);
    expect(replies.filter(({ status }) => status !== 201).map(({ problem }) => problem.code)).not.toContain("internal_error");
    const rows = await database().select().from(checkoutIntents).where(eq(checkoutIntents.mandateId, scene.mandateId));
    expect(rows).toHaveLength(1);
  });

  test("an expired checkout is replaced, and another agent's open checkout is not", async () => {
    const first = await previewed(shop, scene.agent.credential);
    const other = await newKey(scene.person);
    expect((await preview(shop, other.credential)).problem.code).toBe("conflict");
    await database()
      .update(checkoutIntents)
      .set({ expiresAt: sql`statement_timestamp() - interval '1 second'` });
    expect(await previewed(shop, other.credential)).not.toBe(first);
    expect((await eventsOf(first)).at(-1)?.type).toBe("checkout.expired");
  });

  test("a new preview with another payee replaces the open checkout", async () => {
    const first = await previewed(shop, scene.agent.credential);
    await database()
      .update(checkoutIntents)
      .set({ payTo: `0x${"0b".repeat(20)}` });
    const second = await previewed(shop, scene.agent.credential);
    expect((await eventsOf(first)).at(-1)).toMatchObject({ type: "checkout.superseded", metadata: { supersededBy: second } });
  });

  test("expiresInSeconds and the quote's expiry shorten the checkout's validity", async () => {
    const { data } = await preview(shop, scene.agent.credential, { expiresInSeconds: 60 });
    expect(Date.parse(data.intent.expiresAt) - Date.parse(data.intent.createdAt)).toBe(60_000);
  });

  test("410 for an expired quote, and no checkout is created", async () => {
    shop.fault = "expired";
    expect((await preview(shop, scene.agent.credential)).problem.code).toBe("quote_expired");
    expect(
      await database().select().from(checkoutIntents).where(eq(checkoutIntents.organizationId, scene.person.organizationId)),
    ).toEqual([]);
  });

  test.each([
    "challengeAmount",
    "challengePayee",
    "challengeChain",
    "challengeAsset",
    "challengeResource",
    "sum",
    "quantity",
    "html",
  ] as const)("424 for a wrong storefront (%s), and nothing opens", async (fault) => {
    shop.fault = fault;
    const reply = await preview(shop, scene.agent.credential);
    expect([reply.status, reply.problem.code]).toEqual([424, "storefront_invalid"]);
    const rows = await database()
      .select()
      .from(checkoutIntents)
      .where(eq(checkoutIntents.organizationId, scene.person.organizationId));
    expect(rows).toEqual([]);
  });

  test("404 for a mandate of another organization", async () => {
    const foreign = await checkoutScene();
    const reply = await preview(shop, scene.agent.credential, { mandateId: foreign.mandateId });
    expect([reply.status, reply.problem.code]).toEqual([404, "not_found"]);
  });

  test("mandateStatus summarizes the buyer's mandates", async () => {
    const statusOf = async (body: Record<string, unknown> = {}, as = scene.agent.credential) => {
      const { data } = await preview(shop, as, body);
      return [data.intent.mandateStatus, data.intent.mandateId, data.intent.detectedMandateId];
    };
    const { mandateId } = scene;
    expect(await statusOf()).toEqual(["active_match", mandateId, mandateId]);
    const second = await activeMandate(scene.person.credential, { policy: open });
    expect(await statusOf()).toEqual(["multiple_matches", undefined, undefined]);
    expect(await statusOf({ mandateId: second })).toEqual(["selected", second, undefined]);
    const poor = await activeMandate(scene.person.credential, { policy: { ...open, limits: { perPayment: "1", total: "5" } } });
    expect(await statusOf({ mandateId: poor })).toEqual(["insufficient_budget", poor, undefined]);
    const picky = await activeMandate(scene.person.credential, { policy: { ...open, sellers: { unregistered: "deny" } } });
    expect(await statusOf({ mandateId: picky })).toEqual(["seller_not_allowed", picky, undefined]);
    await send(mandates.suspendMandate, suspendMandate, { as: scene.person.credential, id: second });
    expect(await statusOf({ mandateId: second })).toEqual(["not_active", second, mandateId]);
    const empty = await newOrganization();
    expect(await statusOf({}, (await newKey(empty)).credential)).toEqual(["no_mandate", undefined, undefined]);
  });

  test.each([
    ["/storefrontUrl", { storefrontUrl: "javascript:alert(1)" }],
    ["/items", { items: [] }],
    ["/items/0/quantity", { items: [{ productId: "tee", quantity: 0 }] }],
    ["/expiresInSeconds", { expiresInSeconds: 86_401 }],
    ["/amount", { amount: "1" }],
  ])("400 points at %s", async (pointer, body) => {
    const reply = await preview(shop, scene.agent.credential, body);
    expect(reply.status).toBe(400);
    expect(reply.problem.errors).toMatchObject([{ pointer }]);
  });
});
