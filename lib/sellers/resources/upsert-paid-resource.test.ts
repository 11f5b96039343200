import { beforeAll, describe, expect, it } from "vitest";
import { env } from "#lib/env.ts";
import * as contract from "#lib/sellers/contract.ts";
import { getResource } from "#lib/sellers/resources/get-resource.ts";
import { upsertPaidResource } from "#lib/sellers/resources/upsert-paid-resource.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { newSeller, randomAddress } from "#test/sellers.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

const payTo = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
let organizationId: string;
let as: Credential;
let sellerId: string;
beforeAll(async () => {
  organizationId = await createOrganization();
  as = (await createPerson(organizationId)).credential;
  ({ sellerId } = await newSeller(as));
});

const terms = () => ({
  sellerId,
  method: "GET",
  pathTemplate: "/reports/{date}",
  pricing: { type: "fixed", amount: "0.250", asset: "USDC" },
  acceptedPaymentChallengeTypes: ["x402", "x402"],
  paymentConfig: { payTo },
});

type More = { id?: string; as?: Credential; key?: string };
const put = (body: unknown, more: More = {}) =>
  send(contract.upsertPaidResource, upsertPaidResource, { as, id: "daily", body, ...more });

describe("upsertPaidResource", () => {
  it("200 fills in missing fields, and writes its event", async () => {
    const { status, data } = await put(terms(), { id: "fills" });
    expect(status).toBe(200);
    expect(data).toEqual({
      resourceId: "fills",
      sellerId,
      method: "GET",
      pathTemplate: "/reports/{date}",
      pricing: { type: "fixed", amount: "0.25", asset: "USDC" },
      configurationSource: "dashboard",
      acceptedPaymentChallengeTypes: ["x402"],
      minimumAssuranceLevel: "softwareApproved",
      paymentConfig: { chain: "eip155:84532", payTo, settlementMode: "offchainAuthorized", maxTimeoutSeconds: 300 },
    });
    expect(await eventsAbout("fills")).toMatchObject([{ type: "resource.upserted", chain: organizationId, metadata: data }]);
  });

  it("200 replaces every term", async () => {
    await put({ ...terms(), description: "Old", minimumAssuranceLevel: "passkeyApproved" }, { id: "replaced" });
    const { data } = await put({ ...terms(), pricing: { type: "fixed", amount: "1", asset: "USDC" } }, { id: "replaced" });
    expect(data).toMatchObject({ pricing: { amount: "1" }, minimumAssuranceLevel: "softwareApproved" });
    expect(data).not.toHaveProperty("description");
  });

  it("200 accepts what getResource returned, and ignores its proofs", async () => {
    await put(terms(), { id: "round" });
    const read = () => send(contract.getResource, getResource, { as, id: "round" });
    const { data } = await read();
    expect(data.payToProven).toBe(false);
    expect((await put(data, { id: "round" })).status).toBe(200);
    expect((await put({ ...data, payToProven: true }, { id: "round" })).status).toBe(200);
    expect((await read()).data).toEqual(data);
  });

  it("200 registers a price below SETTLEMENT_MINIMUM if the seller settles it", async () => {
    const pricing = { type: "fixed", amount: "0.000001", asset: "USDC" };
    expect((await put({ ...terms(), pricing }, { id: "tiny" })).status).toBe(200);
    const least = { pricing: { ...pricing, amount: "0.001" }, paymentConfig: { payTo, settlementMode: "facilitatorSettled" } };
    expect((await put({ ...terms(), ...least }, { id: "least" })).status).toBe(200);
  });

  it("200 registers a resource that cannot be paid yet, without paymentConfig", async () => {
    const { paymentConfig: _, ...rest } = terms();
    const { status, data } = await put(rest, { id: "later" });
    expect(status).toBe(200);
    expect(data).not.toHaveProperty("paymentConfig");
  });

  it("200 for an id that another organization's seller uses too", async () => {
    const other = (await createPerson(await createOrganization())).credential;
    const shop = await newSeller(other, { resourceId: "fills" });
    const { data } = await put(terms(), { id: "fills" });
    expect(data.sellerId).toBe(sellerId);
    expect(shop.resource.sellerId).toBe(shop.sellerId);
  });

  it.each<readonly [string, Record<string, unknown>]>([
    ["/resourceId", { resourceId: "other" }],
    ["/method", { method: "TRACE" }],
    ["/pathTemplate", { pathTemplate: "/a/../b" }],
    ["/pathTemplate", { pathTemplate: "/%2e%2e/b" }],
    ["/acceptedPaymentChallengeTypes", { acceptedPaymentChallengeTypes: [] }],
    ["/acceptedPaymentChallengeTypes/0", { acceptedPaymentChallengeTypes: ["l402"] }],
    ["/configurationSource", { configurationSource: "guess" }],
    ["/pricing/type", { pricing: { type: "free", amount: "1", asset: "USDC" } }],
    ["/pricing/amount", { pricing: { type: "fixed", amount: "0", asset: "USDC" } }],
    ["/pricing/amount", { pricing: { type: "fixed", amount: "0.0000001", asset: "USDC" } }],
    ["/pricing/amount", { pricing: { type: "fixed", amount: "1e3", asset: "USDC" } }],
    ["/pricing/amount", { pricing: { type: "fixed", amount: 1, asset: "USDC" } }],
    ["/pricing/asset", { pricing: { type: "fixed", amount: "1", asset: "DAI" } }],
    ["/pricing/currency", { pricing: { type: "fixed", amount: "1", asset: "USDC", currency: "USD" } }],
    ["/paymentConfig/payTo", { paymentConfig: {} }],
    ["/paymentConfig/payTo", { paymentConfig: { payTo: `0x${"0".repeat(40)}` } }],
    ["/paymentConfig/payTo", { paymentConfig: { payTo: payTo.replace("B", "b") } }],
    ["/paymentConfig/payTo", { paymentConfig: { payTo: "0x036cbd53842c5426634e7929541ec2318f3dcf7e" } }],
    ["/paymentConfig/payTo", { paymentConfig: { payTo: "vitalik.eth" } }],
    ["/paymentConfig/chain", { paymentConfig: { payTo, chain: "eip155:1" } }],
    ["/paymentConfig/settlementMode", { paymentConfig: { payTo, settlementMode: "simulated" } }],
    ["/paymentConfig/maxTimeoutSeconds", { paymentConfig: { payTo, maxTimeoutSeconds: 0 } }],
    ["/paymentConfig/feeRecipient", { paymentConfig: { payTo, feeRecipient: "me" } }],
    ["/paymentConfig/facilitatorUrl", { paymentConfig: { payTo, facilitatorUrl: "https://f.example.com" } }],
    [
      "/paymentConfig/facilitatorUrl",
      { paymentConfig: { payTo, settlementMode: "facilitatorSettled", facilitatorUrl: "http://169.254.169.254/" } },
    ],
    [
      "/pricing/amount",
      {
        pricing: { type: "fixed", amount: "0.000999", asset: "USDC" },
        paymentConfig: { payTo, settlementMode: "facilitatorSettled" },
      },
    ],
    [
      "/pricing/maxAmount",
      {
        pricing: { type: "quoted", maxAmount: "0.000999", asset: "USDC" },
        paymentConfig: { payTo, settlementMode: "facilitatorSettled" },
      },
    ],
    ["/organizationId", { organizationId: "org_1" }],
    ["/verified", { verified: true }],
  ])("400 points at %s of %j", async (pointer, change) => {
    const { status, problem } = await put({ ...terms(), ...change }, { id: "refused" });
    expect(status).toBe(400);
    expect(problem.errors?.map((error) => error.pointer)).toEqual([pointer]);
    expect(await eventsAbout("refused")).toEqual([]);
  });

  it("400 lists every refusal of the configuration at once", async () => {
    const pricing = { type: "fixed", amount: "0", asset: "USDC" };
    const { problem } = await put({ ...terms(), resourceId: "x", pricing, paymentConfig: { payTo: `0x${"0".repeat(40)}` } });
    expect(problem.errors?.map((error) => error.pointer)).toEqual(["/resourceId", "/pricing/amount", "/paymentConfig/payTo"]);
  });

  it("400 for an invalid id in the path", async () => {
    expect((await put(terms(), { id: "a%20b" })).status).toBe(400);
  });

  it("403 without resources:manage", async () => {
    const agent = await createAgent(organizationId, ["sellers:manage", "sellers:read"]);
    expect((await put(terms(), { as: agent.credential })).status).toBe(403);
  });

  it("404 hides the seller of another organization", async () => {
    const other = (await createPerson(await createOrganization())).credential;
    const { status, problem } = await put(terms(), { as: other });
    expect([status, problem.code]).toEqual([404, "not_found"]);
  });

  it("a repeat with the same idempotency key gets the first reply, also after another call changed the price", async () => {
    const agent = await createAgent(organizationId, ["resources:manage"]);
    const more = { id: "replayed", as: agent.credential, key: "price-1" };
    const first = await put(terms(), more);
    await put({ ...terms(), pricing: { type: "fixed", amount: "9", asset: "USDC" } }, { id: "replayed" });
    const again = await put(terms(), more);
    expect(first.data.configurationSource).toBe("api");
    expect(JSON.stringify(again.data)).toBe(JSON.stringify(first.data));
    expect(await eventsAbout("replayed")).toHaveLength(2);
  });

  it("accepts a configured facilitator for payments that the service settles", async () => {
    const facilitatorUrl = "https://facilitator.example.com";
    const variables = env() as { FACILITATORS?: { url: string }[] };
    variables.FACILITATORS = [{ url: facilitatorUrl }];
    try {
      const paymentConfig = { payTo: randomAddress(), settlementMode: "facilitatorSettled", facilitatorUrl };
      const { data } = await put({ ...terms(), paymentConfig }, { id: "settled" });
      expect(data.paymentConfig).toMatchObject(paymentConfig);
    } finally {
      delete variables.FACILITATORS;
    }
  });
});
