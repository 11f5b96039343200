import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { checkReadiness } from "#lib/commerce/check-readiness.ts";
import * as contract from "#lib/commerce/readiness-contract.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { mandateLedger } from "#lib/mandates/tables.ts";
import { forget } from "#lib/process.ts";
import type { ReadinessKey } from "#lib/vocabulary.ts";
import { useChain } from "#test/chain.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { activeMandate, assets } from "#test/mandates.ts";
import { randomAddress } from "#test/sellers.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();
const chain = useChain();

let shop: HostileStorefront;
let organizationId: string;
let person: Credential;
let agent: Credential;
let mandateId: string;

const limits = { perPayment: "100", budgets: [{ period: "day", timezone: "UTC", amount: "500" }] };
const open = { assets, limits, sellers: { unregistered: "allow" } };
const items = [{ productId: "tee", variantId: "tee-m", quantity: 2 }];

beforeAll(async () => {
  const [configured] = env().CHAINS as { rpcUrl: string }[];
  if (configured) configured.rpcUrl = chain().rpcUrl;
  forget("chains/client eip155:84532", "payments/probe-domain");
  shop = await openHostileStorefront();
  organizationId = await createOrganization("Buyer");
  person = (await createPerson(organizationId)).credential;
  agent = (await createAgent(organizationId, ["readiness:read"])).credential;
  mandateId = await activeMandate(person, { policy: open });
});
afterAll(() => shop.close());
beforeEach(() => {
  shop.fault = "clean";
});

const ask = (body: Record<string, unknown> = {}, as = agent) =>
  send(contract.checkReadiness, checkReadiness, { as, body: { mandateId, storefrontUrl: shop.url, items, ...body } });
const statusesOf = ({ data }: Awaited<ReturnType<typeof ask>>): Partial<Record<ReadinessKey, string>> =>
  Object.fromEntries(data.checks.map(({ key, status }) => [key, status]));

describe("checkReadiness", () => {
  it("200 is ready if mandate, storefront and terms fit together; the reply has all checks in order", async () => {
    const reply = await ask();
    expect(reply.data.status).toBe("ready");
    expect(statusesOf(reply)).toEqual({
      serviceAvailable: "ready",
      emergencyClear: "ready",
      mandateExists: "ready",
      mandateActive: "ready",
      mandateAgentBound: "ready",
      mandateBudget: "ready",
      mandateSellerAllowed: "ready",
      mandateResourceAllowed: "ready",
      mandateAssetAllowed: "ready",
      mandateSchedule: "ready",
      assuranceLevel: "ready",
      approvalNeeded: "ready",
      storefrontReachable: "ready",
      storefrontManifest: "ready",
      storefrontItems: "ready",
      sellerRegistered: "ready",
      sellerVerified: "skipped",
      paymentChallengeSupported: "ready",
      paymentChallengeMatchesQuote: "ready",
      paymentMode: "ready",
      tokenMetadata: "ready",
      walletConnected: "skipped",
      walletBalance: "skipped",
      feeQuote: "ready",
    });
    expect(reply.data.requiredActions).toEqual([]);
  });

  it("200 returns the completed scope, valid for 900 seconds", async () => {
    const { data } = await ask({ metadata: { trip: 7 } });
    expect(data.scope).toMatchObject({
      mandateId,
      storefrontUrl: shop.url,
      items,
      chain: "eip155:84532",
      asset: "USDC",
      amount: "25",
      payTo: shop.payTo,
      metadata: { trip: 7, expiresInSeconds: 900 },
    });
  });

  it("changes nothing: no reserved amount, no ledger entry, no event, no payment", async () => {
    const count = async () => [
      (await database().select().from(auditEvents)).length,
      (await database().select().from(mandateLedger)).length,
    ];
    const before = await count();
    await Promise.all(Array.from({ length: 5 }, () => ask()));
    expect(await count()).toEqual(before);
    expect(shop.credentials).toEqual([]);
  });

  it.each<readonly [string, Record<string, unknown>, ReadinessKey, string, string]>([
    ["a person is asked", { approval: { mode: "always" } }, "approvalNeeded", "actionRequired", "approve_checkout"],
    [
      "the amount is above the limit",
      { limits: { ...limits, perPayment: "10" } },
      "mandateBudget",
      "blocked",
      "raise_mandate_limit",
    ],
    ["sellers must be registered", { sellers: {} }, "mandateSellerAllowed", "blocked", "use_other_seller"],
    ["the seller must be verified", { requireVerifiedSeller: true }, "mandateSellerAllowed", "blocked", "verify_seller"],
    ["the domain is not allowed", { domains: { allow: ["example.com"] } }, "mandateSellerAllowed", "blocked", "use_other_seller"],
    ["the validity has ended", { validUntil: "2020-01-01T00:00:00Z" }, "mandateActive", "blocked", "renew_mandate"],
    [
      "a passkey is asked for",
      { minimumAssuranceLevel: "passkeyApproved" },
      "approvalNeeded",
      "actionRequired",
      "approve_checkout",
    ],
    [
      "the assurance is out of reach",
      { minimumAssuranceLevel: "walletApproved" },
      "assuranceLevel",
      "blocked",
      "use_other_seller",
    ],
  ])("says what to do if %s", async (_, change, key, status, action) => {
    const other = await activeMandate(person, { policy: { ...open, ...change } });
    const { data } = await ask({ mandateId: other });
    const check = data.checks.find((one) => one.key === key);
    expect(check?.status).toBe(status);
    expect(check?.problem?.detail).toBe(check?.message);
    expect(check?.nextActions.map(({ type }) => type)).toContain(action);
    expect(data.status).toBe(status);
    expect(data.requiredActions.find(({ type }) => type === action)?.blocking).toBe(status === "blocked");
  });

  it("mandateActive is blocked for a suspended mandate", async () => {
    const other = await activeMandate(person, { policy: open });
    await send(mandates.suspendMandate, suspendMandate, { as: person, id: other, body: {} });
    const { data } = await ask({ mandateId: other });
    expect(data.checks.find(({ key }) => key === "mandateActive")).toMatchObject({
      status: "blocked",
      problem: { code: "mandate_not_active" },
      nextActions: [
        { type: "resume_mandate", href: `${env().BASE_URL}/mandates/${other}` },
        { type: "select_mandate", href: `${env().BASE_URL}/mandates` },
      ],
    });
  });

  it("mandateExists is blocked for another organization's mandate, as for an unknown one", async () => {
    const stranger = await createPerson(await createOrganization("Other"));
    const foreign = await ask({ mandateId: await activeMandate(stranger.credential) });
    const none = await ask({ mandateId: "mdt_none" });
    expect(statusesOf(foreign)).toEqual(statusesOf(none));
    expect(statusesOf(none)).toMatchObject({ mandateExists: "blocked" });
  });

  it("walletBalance asks to fund the mandate's wallet, and is ready when the wallet has money", async () => {
    const address = randomAddress();
    const other = await activeMandate(person, { policy: open, wallet: { chain: "eip155:84532", address } });
    const poor = await ask({ mandateId: other });
    expect(poor.data.checks.find(({ key }) => key === "walletBalance")).toMatchObject({
      status: "actionRequired",
      nextActions: [{ type: "fund_wallet", amount: "25" }],
    });
    await chain().mint(address, 25_000_000n);
    expect(statusesOf(await ask({ mandateId: other }))).toMatchObject({ walletConnected: "ready", walletBalance: "ready" });
  });

  it("lists each next action once, even if several checks need it", async () => {
    const domains = { allow: ["example.com"] };
    const other = await activeMandate(person, {
      policy: { ...open, sellers: {}, domains, minimumAssuranceLevel: "walletApproved" },
    });
    const { data } = await ask({ mandateId: other });
    expect(data.requiredActions.filter(({ type }) => type === "use_other_seller")).toHaveLength(1);
  });
});

describe("checkReadiness and storefronts that fail", () => {
  it.each<readonly [HostileStorefront["fault"], ReadinessKey]>([
    ["manifest500", "storefrontReachable"],
    ["hang", "storefrontReachable"],
    ["html", "storefrontManifest"],
    ["anotherDomain", "storefrontManifest"],
    ["redirectInward", "storefrontManifest"],
    ["decimals", "tokenMetadata"],
    ["unknownChain", "tokenMetadata"],
    ["soldOut", "storefrontItems"],
    ["quote500", "storefrontItems"],
    ["sum", "storefrontItems"],
    ["challengeAmount", "paymentChallengeMatchesQuote"],
    ["challengePayee", "paymentChallengeMatchesQuote"],
    ["challengeGarbage", "paymentChallengeMatchesQuote"],
    ["checkout500", "paymentChallengeMatchesQuote"],
  ])("%s blocks at %s, and says what to do", async (fault, key) => {
    shop.fault = fault;
    const { status, data } = await ask();
    expect([status, data.status]).toEqual([200, "blocked"]);
    const blocked = data.checks.filter((check) => check.status === "blocked");
    expect(blocked.map((check) => check.key)).toEqual([key]);
    expect(blocked[0]?.nextActions.length).toBeGreaterThan(0);
    expect(data.checks.find((check) => check.key === "mandateActive")?.status).toBe("ready");
  });

  it("skips the checks that need items if none are named", async () => {
    expect(statusesOf(await ask({ items: undefined }))).toMatchObject({
      storefrontItems: "skipped",
      paymentChallengeMatchesQuote: "skipped",
      mandateBudget: "skipped",
      mandateSellerAllowed: "ready",
      feeQuote: "skipped",
    });
  });

  it.each<readonly [string, Record<string, unknown>]>([
    ["amount", { amount: "24.99" }],
    ["payTo", { payTo: `0x${"12".repeat(20)}` }],
  ])("blocks if the storefront asks for another %s than the agent", async (_, stated) => {
    expect(statusesOf(await ask(stated))).toMatchObject({ paymentChallengeMatchesQuote: "blocked" });
  });

  it.each<readonly [string, Record<string, unknown>, ReadinessKey]>([
    ["an unknown challenge", { paymentChallenge: "l402" }, "paymentChallengeSupported"],
    ["a mode that is not there yet", { paymentMode: "service7702" }, "paymentMode"],
    ["a seller that this storefront is not of", { sellerId: "sel_someone" }, "sellerRegistered"],
  ])("blocks %s", async (_, stated, key) => {
    expect(statusesOf(await ask(stated))).toMatchObject({ [key]: "blocked" });
  });
});

describe("checkReadiness refuses", () => {
  it.each<readonly [string, Record<string, unknown>]>([
    ["/tokenAddress", { chain: "eip155:84532", asset: "USDC", tokenAddress: `0x${"12".repeat(20)}` }],
    ["/tokenName", { asset: "USDC", tokenName: "USD Coin" }],
    ["/tokenDecimals", { asset: "USDC", tokenDecimals: 18 }],
    ["/expiresInSeconds", { expiresInSeconds: 0 }],
    ["/expiresInSeconds", { expiresInSeconds: 86_401 }],
    ["/storefrontUrl", { storefrontUrl: "javascript:alert(1)" }],
    ["/items/0/quantity", { items: [{ productId: "tee", quantity: 0 }] }],
    ["/status", { status: "ready" }],
  ])("400 points at %s", async (pointer, change) => {
    const { status, problem } = await ask(change);
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, pointer]);
  });

  it("403 without readiness:read", async () => {
    const other = await createAgent(organizationId, ["payments:read"]);
    expect((await ask({}, other.credential)).status).toBe(403);
  });
});
