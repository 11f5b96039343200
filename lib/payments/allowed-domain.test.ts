import { encodePaymentRequiredHeader } from "@x402/core/http";
import { eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { checkReadiness } from "#lib/commerce/check-readiness.ts";
import * as readiness from "#lib/commerce/readiness-contract.ts";
import { database } from "#lib/db/client.ts";
import { takeAttempt } from "#lib/http/attempts-store.ts";
import { checkReadinessOfService } from "#lib/health/check-readiness-of-service.ts";
import * as health from "#lib/health/contract.ts";
import { simulateMandate as simulateOperation } from "#lib/mandates/contract.ts";
import { simulateMandate } from "#lib/mandates/lifecycle/simulate-mandate.ts";
import { authorizePayment } from "#lib/payments/authorize-payment.ts";
import { authorizePayment as authorizeOperation } from "#lib/payments/contract.ts";
import { forgetOldOffers } from "#lib/sellers/seen-offer-store.ts";
import { rememberOffer } from "#lib/sellers/seen-offer-store.ts";
import { seenOffers, sellers } from "#lib/sellers/tables.ts";
import { authorizationsOf, holdsOf } from "#test/asking.ts";
import { checkoutScene, items, open } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront } from "#test/hostile-storefront.ts";
import { activeMandate, CHAIN, policy } from "#test/mandates.ts";
import { newOrderKey, place } from "#test/orders.ts";
import { authorized, paymentScene, type PaymentScene } from "#test/payments.ts";
import { mayReach, openPaywall, type Paywall } from "#test/paywall.ts";
import { newSeller, randomAddress } from "#test/sellers.ts";
import { createOrganization, createPerson, send } from "#test/tenant.ts";

useDatabase();

let shop: Paywall;
let scene: PaymentScene;
beforeEach(async () => {
  shop = await openPaywall();
  mayReach(shop.domain);
  scene = await paymentScene({ mandate: under({ domains: { allow: [shop.domain] } }) });
});

const under = (rules: Record<string, unknown>) => ({ policy: { ...policy, sellers: { unregistered: "allow" }, ...rules } });

async function foreignSeller(registered: Parameters<typeof newSeller>[1]) {
  const owner = await createPerson(await createOrganization("Foreign"));
  return newSeller(owner.credential, registered);
}

const paying = async (intent: Record<string, unknown>, by = scene) => (await authorized(by, intent)).policyDecision;

/** A payment to a registered seller. */
const to = ({ sellerId, resourceId, price }: Awaited<ReturnType<typeof newSeller>>) => ({
  seller: { sellerId },
  resource: { resourceId },
  amount: price,
});

/** A payment to a seller that is not registered. */
const toStranger = (challenge: ReturnType<Paywall["challenge"]>, change: Record<string, unknown> = {}) => ({
  seller: {},
  resource: undefined,
  amount: "0.25",
  chain: CHAIN,
  payTo: challenge.accepts[0]?.payTo,
  challenge,
  ...change,
});

describe("a domain that a mandate allows", () => {
  test("does not admit a foreign organization that registers it with its own payee and price", async () => {
    const thief = await foreignSeller({ domain: shop.domain, price: "0.9" });
    const decision = await paying(to(thief));
    expect(decision).toMatchObject({ outcome: "deny", denialCode: "seller_unverified" });
    expect(await holdsOf(scene.mandateId)).toEqual([]);
    const [reason] = decision.reasons;
    expect(reason).toMatchObject({ rule: "domains", pointer: "/domains/allow" });
    expect(reason?.message).toContain("names another address to pay to");
    expect(reason?.message).toContain("verify its domain, or allow the seller by its id or its address");
  });

  test("does not admit a foreign organization that names the right payee at a price of its own", async () => {
    const dear = await foreignSeller({ domain: shop.domain, price: "0.9", payTo: shop.payTo });
    const decision = await paying(to(dear));
    expect(decision.denialCode).toBe("seller_unverified");
    expect(decision.reasons[0]?.message).toContain("its 402 asks for another amount");
  });

  test("does not admit a challenge from the agent that the domain never sent", async () => {
    const forged = shop.challenge({ payTo: randomAddress() });
    expect(await paying(toStranger(forged))).toMatchObject({ outcome: "deny", denialCode: "seller_unverified" });
    const dearer = shop.challenge({ amount: "900000" });
    expect((await paying(toStranger(dearer, { amount: "0.9" }))).denialCode).toBe("seller_unverified");
    expect(await holdsOf(scene.mandateId)).toEqual([]);
  });

  test("admits an unregistered and an unverified seller whose own 402 matches", async () => {
    expect((await paying(toStranger(shop.challenge()))).outcome).toBe("allow");
    const honest = await foreignSeller({ domain: shop.domain, payTo: shop.payTo });
    expect((await paying(to(honest))).outcome).toBe("allow");
    expect(shop.asked).toEqual(["GET /report"]);
  });

  test("is asked although this process has told its readiness before", async () => {
    await send(health.checkReadinessOfService, checkReadinessOfService);
    expect((await paying(toStranger(shop.challenge()))).outcome).toBe("allow");
  });

  test("is called at the challenge's URL if the registered path has parameters", async () => {
    const honest = await foreignSeller({ domain: shop.domain, payTo: shop.payTo, pathTemplate: "/reports/{date}" });
    const silent = await paying(to(honest));
    expect(silent.denialCode).toBe("seller_unverified");
    expect(silent.reasons[0]?.message).toContain("Without the seller's challenge we do not know where to ask its domain.");
    const elsewhere = { ...to(honest), challenge: { ...shop.challenge(), resource: { url: `${shop.url}/other` } } };
    expect((await paying(elsewhere)).denialCode).toBe("seller_unverified");
    expect(shop.asked).toEqual([]);
    expect((await paying({ ...to(honest), challenge: shop.challenge({}, "/reports/today") })).outcome).toBe("allow");
    expect(shop.asked).toEqual(["GET /reports/today"]);
  });

  test("does not admit a host that redirects, asks for no payment, answers nonsense, or is unavailable", async () => {
    const other = await openPaywall();
    mayReach(shop.domain, other.domain);
    const redirect = { location: `${other.url}/report` };
    const answers: readonly (readonly [Paywall["answer"], string])[] = [
      [(response) => response.writeHead(302, redirect).end(), "it sent us to another host"],
      [(response) => response.writeHead(200).end("free"), "it answered 200 instead of asking for payment"],
      [(response) => response.writeHead(402).end("pay"), "not by x402 version 2"],
      [(response) => response.writeHead(402, { "payment-required": "e30=" }).end(), "cannot be read"],
      [(response) => response.destroy(), "did not answer in time"],
    ];
    for (const [answer, words] of answers) {
      shop.answer = answer;
      // The service remembers for 15 seconds that a call to a domain failed. A new payee is a new offer, so it calls the domain
      // again.
      const forged = other.challenge({ payTo: randomAddress() });
      const decision = await paying(toStranger({ ...forged, resource: { url: `${shop.url}/report` } }));
      expect([decision.denialCode, decision.reasons[0]?.message]).toEqual(["seller_unverified", expect.stringContaining(words)]);
    }
  });

  test("admits a verified seller without a call, and a seller that the mandate allows by its id or its address", async () => {
    const away = { domain: "shop.example.com", payTo: randomAddress() };
    const seller = await foreignSeller(away);
    const rules = { domains: { allow: ["example.com"] } };
    const byDomain = { ...scene, mandateId: await activeMandate(scene.person.credential, under(rules)) };
    const byId = await activeMandate(scene.person.credential, under({ ...rules, sellers: { allow: [seller.sellerId] } }));
    const byAddress = await activeMandate(scene.person.credential, under({ ...rules, payTo: { allow: [away.payTo] } }));
    for (const mandateId of [byId, byAddress]) expect((await paying(to(seller), { ...scene, mandateId })).outcome).toBe("allow");
    await database().update(sellers).set({ verified: true }).where(eq(sellers.sellerId, seller.sellerId));
    expect((await paying(to(seller), byDomain)).outcome).toBe("allow");
  });

  test("is denied for every seller that claims it, if it is on the deny list instead", async () => {
    const claims = await foreignSeller({ domain: "bad.example.com" });
    const rules = { domains: { deny: ["example.com"] } };
    const mandateId = await activeMandate(scene.person.credential, under(rules));
    expect((await paying(to(claims), { ...scene, mandateId })).denialCode).toBe("domain_not_allowed");
  });
});

describe("calling a domain", () => {
  test("is done once for parallel requests, and its answer is valid for a day", async () => {
    const many = await Promise.all(Array.from({ length: 12 }, () => paying(toStranger(shop.challenge()))));
    expect(new Set(many.map(({ outcome }) => outcome))).toEqual(new Set(["allow"]));
    expect(shop.asked).toHaveLength(1);
    const age = (hours: number) =>
      database()
        .update(seenOffers)
        .set({ seenAt: new Date(Date.now() - hours * 3_600_000) })
        .where(eq(seenOffers.domain, shop.domain));
    await age(23);
    expect((await paying(toStranger(shop.challenge()))).outcome).toBe("allow");
    expect(shop.asked).toHaveLength(1);
    await age(25);
    expect((await paying(toStranger(shop.challenge()))).outcome).toBe("allow");
    expect(shop.asked).toHaveLength(2);
  });

  test("happens outside transactions: a slow domain delays no other payment of the mandate", async () => {
    let answer = () => {};
    shop.answer = (response) => {
      answer = () => response.writeHead(402, { "payment-required": encodePaymentRequiredHeader(shop.challenge()) }).end();
    };
    const verified = await foreignSeller({ domain: "good.example.com" });
    await database().update(sellers).set({ verified: true }).where(eq(sellers.sellerId, verified.sellerId));
    const rules = { domains: { allow: [shop.domain, "good.example.com"] } };
    const both = { ...scene, mandateId: await activeMandate(scene.person.credential, under(rules)) };
    const slow = paying(toStranger(shop.challenge()), both);
    await expect.poll(() => shop.asked.length).toBe(1);
    const open = await database().execute(sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`);
    expect(open).toHaveLength(0);
    expect((await paying(to(verified), both)).outcome).toBe("allow");
    answer();
    expect((await slow).outcome).toBe("allow");
  });

  test("is not done for payments that are denied for another reason, nor for domains that the mandate does not allow", async () => {
    const tooDear = shop.challenge({ amount: "2000000" });
    const { reasons } = await paying(toStranger(tooDear, { amount: "2" }));
    expect(reasons.filter(({ effect }) => effect === "deny").map(({ code }) => code)).toEqual([
      "seller_unverified",
      "per_payment_limit_exceeded",
    ]);
    const mandateId = await activeMandate(scene.person.credential, under({ domains: { allow: ["example.com"] } }));
    expect((await paying(toStranger(shop.challenge()), { ...scene, mandateId })).denialCode).toBe("domain_not_allowed");
    expect(shop.asked).toEqual([]);
  });

  test("has a limit: above it the answer is 503 with nothing stored, and a repeat works later", async () => {
    shop.answer = () => {};
    const expiresAt = new Date(Date.now() + 600_000).toISOString();
    const asking = Array.from({ length: 9 }, (_, at) => {
      const names = { intentId: `b-${at}`, nonce: `b-${at}`, idempotencyKey: `b-${at}`, asset: "USDC", expiresAt };
      const intent = { ...toStranger(shop.challenge({ payTo: randomAddress() })), ...names };
      const body = { mandateId: scene.mandateId, intent };
      return send(authorizeOperation, authorizePayment, { as: scene.agent.credential, body });
    });
    const first = await Promise.race(asking);
    expect([first.status, first.problem.code, first.headers.get("retry-after")]).toEqual([503, "overloaded", "1"]);
    expect(await authorizationsOf(scene.mandateId)).toEqual([]);
    const rest = await Promise.all(asking);
    expect(rest.filter(({ status }) => status === 503)).toHaveLength(1);
    expect(rest.filter(({ data }) => data.policyDecision?.denialCode === "seller_unverified")).toHaveLength(8);
  });

  test("has a limit per minute for each organization: above it the answer is 429 with nothing stored, and no domain is called", async () => {
    for (let at = 0; at < 60; at += 1) await takeAttempt(`domainProbe:${scene.organizationId}`, 60);
    const expiresAt = new Date(Date.now() + 600_000).toISOString();
    const names = { intentId: "late", nonce: "late", idempotencyKey: "late", asset: "USDC", expiresAt };
    const body = { mandateId: scene.mandateId, intent: { ...toStranger(shop.challenge()), ...names } };
    const refused = await send(authorizeOperation, authorizePayment, { as: scene.agent.credential, body });
    expect([refused.status, refused.problem.code, refused.headers.get("retry-after")]).toEqual([429, "rate_limited", "60"]);
    expect(shop.asked).toEqual([]);
    expect(await authorizationsOf(scene.mandateId)).toEqual([]);
    const other = await paymentScene({ mandate: under({ domains: { allow: [shop.domain] } }) });
    expect((await paying(toStranger(shop.challenge()), other)).outcome).toBe("allow");
    // The offer was already stored for another organization's payment, so this payment needs no request to the domain.
    expect((await paying(toStranger(shop.challenge()))).outcome).toBe("allow");
  });

  test("is done by a simulation too, without a hold, and its answer is cached", async () => {
    const { amount, chain, payTo, challenge } = toStranger(shop.challenge());
    const expiresAt = new Date(Date.now() + 600_000).toISOString();
    const intent = { intentId: "s", nonce: "s", seller: {}, amount, asset: "USDC", chain, payTo, challenge, expiresAt };
    const { data } = await send(simulateOperation, simulateMandate, {
      as: scene.agent.credential,
      id: scene.mandateId,
      body: { intent },
    });
    expect(data).toMatchObject({ decision: { outcome: "allow" } });
    expect(await holdsOf(scene.mandateId)).toEqual([]);
    expect((await paying(toStranger(shop.challenge()))).outcome).toBe("allow");
    expect(shop.asked).toHaveLength(1);
  });

  test("keeps no more than 200 offers of one domain, and none that is older than two days", async () => {
    const offer = {
      domain: "many.example.com",
      payTo: randomAddress(),
      chain: CHAIN,
      tokenAddress: randomAddress(),
      url: "https://x",
    };
    for (let amount = 1n; amount <= 230n; amount += 1n) await rememberOffer(database(), { ...offer, amount });
    const kept = () => database().select().from(seenOffers).where(eq(seenOffers.domain, offer.domain));
    const amounts = (await kept()).map(({ amount }) => Number(amount));
    expect(amounts.length).toBeLessThanOrEqual(200);
    expect(amounts).toContain(230);
    await database()
      .update(seenOffers)
      .set({ seenAt: new Date(Date.now() - 49 * 3_600_000) })
      .where(eq(seenOffers.domain, offer.domain));
    await forgetOldOffers();
    expect(await kept()).toEqual([]);
  });
});

describe("an order at an allowed domain", () => {
  test("is decided by the 402 that the service itself received", async () => {
    const front = await openHostileStorefront();
    const buyer = await checkoutScene({ mandate: { policy: { ...open, domains: { allow: [front.domain] } } } });
    const { data } = await place(buyer, front, newOrderKey());
    expect(data.status).toBe("paymentCredentialRequired");
    const ready = await send(readiness.checkReadiness, checkReadiness, {
      as: buyer.agent.credential,
      body: { mandateId: buyer.mandateId, storefrontUrl: front.url, items },
    });
    expect(ready.data.checks.find(({ key }) => key === "mandateSellerAllowed")?.status).toBe("ready");
    await front.close();
  });
});
