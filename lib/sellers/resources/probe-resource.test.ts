import { createServer } from "node:http";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSeller } from "../../../examples/seller.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";
import * as contract from "#lib/sellers/contract.ts";
import { probeResource } from "#lib/sellers/resources/probe-resource.ts";
import { sellers } from "#lib/sellers/tables.ts";
import { verifySellerDomain } from "#lib/sellers/verify-seller-domain.ts";
import { upsertPaidResource } from "#lib/sellers/resources/upsert-paid-resource.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization, type Owner } from "#test/identity.ts";
import { useSettlement } from "#test/payments.ts";
import { newSeller, randomAddress } from "#test/sellers.ts";
import { listen, stockFacilitator, type ListeningServer } from "#test/shop.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();
const open: Pick<ListeningServer, "close">[] = [];
const payTo = randomAddress();
let owner: Owner;
let shop: string;
let plain: string;

beforeAll(async () => {
  owner = await newOrganization({ productRoles: ["seller"] });
  const stock = await startSeller({ facilitator: await stockFacilitator(chain()), payTo });
  const free = await listen(createServer((_, response) => void response.writeHead(200).end("{}")));
  open.push(stock, free);
  [shop, plain] = [new URL(stock.url).host, new URL(free.url).host];
  (env() as { OUTBOUND_LOOPBACK?: string }).OUTBOUND_LOOPBACK = `${shop},${plain}`;
  forget("outbound/guarded-fetch");
});
afterAll(() => Promise.all(open.map((one) => one.close())));

const probe = (id: string, body: object = {}, as = owner.credential) =>
  send(contract.probeResource, probeResource, { as, id, body });

describe("probeResource", () => {
  test("200 payable: the 402 of a standard x402 seller matches the registration", async () => {
    await newSeller(owner.credential, { domain: shop, payTo, resourceId: "right" });
    const { status, data } = await probe("right");
    expect(status).toBe(200);
    expect(data).toMatchObject({ url: `http://${shop}/report`, status: 402, payable: true, findings: [] });
    expect(data.challenge).toMatchObject({ x402Version: 2, accepts: [{ amount: "250000" }] });
  });

  test("200 lists every field in which the 402 differs", async () => {
    const elsewhere = randomAddress();
    await newSeller(owner.credential, { domain: shop, payTo: elsewhere, price: "0.5", resourceId: "wrong" });
    const { data } = await probe("wrong");
    expect(data.payable).toBe(false);
    expect(data.findings).toMatchObject([
      { field: "payTo", expected: elsewhere, actual: payTo },
      { field: "amount", expected: "500000", actual: "250000" },
    ]);
  });

  test("200 not payable: the 402 asks for less than this service settles, if it settles for the seller", async () => {
    await newSeller(owner.credential, { domain: shop, payTo, settlementMode: "facilitatorSettled", resourceId: "small" });
    expect((await probe("small")).data.payable).toBe(true);
    const usual = env().SETTLEMENT_MINIMUM;
    (env() as { SETTLEMENT_MINIMUM: string }).SETTLEMENT_MINIMUM = "0.3";
    const { data } = await probe("small");
    (env() as { SETTLEMENT_MINIMUM: string }).SETTLEMENT_MINIMUM = usual;
    expect(data).toMatchObject({ payable: false, findings: [{ field: "amount", expected: "0.3 USDC", actual: "0.25 USDC" }] });
  });

  test("200 reports a resource that asks for no payment", async () => {
    await newSeller(owner.credential, { domain: plain, resourceId: "free" });
    expect((await probe("free")).data).toMatchObject({
      status: 200,
      payable: false,
      findings: [{ field: "status", actual: "200" }],
    });
  });

  test("200 for a quoted price accepts the price in the 402, up to the registered maximum", async () => {
    const { sellerId } = await newSeller(owner.credential, { domain: shop, payTo, resourceId: "quoted" });
    const quote = (maxAmount: string) =>
      send(contract.upsertPaidResource, upsertPaidResource, {
        as: owner.credential,
        id: "quoted",
        body: {
          sellerId,
          method: "GET",
          pathTemplate: "/report",
          pricing: { type: "quoted", asset: "USDC", maxAmount },
          acceptedPaymentChallengeTypes: ["x402"],
          paymentConfig: { payTo },
        },
      });
    await quote("1");
    expect((await probe("quoted")).data.payable).toBe(true);
    await quote("0.1");
    expect((await probe("quoted")).data.findings).toMatchObject([{ field: "amount", expected: "0.1", actual: "0.25" }]);
  });

  test.each(["http://example.com/report", "//example.com/report", "/other", "/report/../other"])(
    "400 if the call would leave the seller's own resource: %s",
    async (path) => {
      const { problem } = await probe("right", { path });
      expect(problem).toMatchObject({ status: 400, errors: [{ pointer: "/path" }] });
    },
  );

  test("409 for a method that may have side effects", async () => {
    const { sellerId } = await newSeller(owner.credential, { domain: shop, payTo, resourceId: "gone" });
    await send(contract.upsertPaidResource, upsertPaidResource, {
      as: owner.credential,
      id: "gone",
      body: {
        sellerId,
        method: "DELETE",
        pathTemplate: "/report",
        pricing: { type: "fixed", amount: "1", asset: "USDC" },
        acceptedPaymentChallengeTypes: ["x402"],
        paymentConfig: { payTo },
      },
    });
    expect((await probe("gone")).problem.code).toBe("conflict");
  });

  test("sends a POST only to a verified domain", async () => {
    const asked: string[] = [];
    const site = await listen(
      createServer((request, response) => {
        asked.push(request.method ?? "");
        response.writeHead(200).end("{}");
      }),
    );
    open.push(site);
    const domain = new URL(site.url).host;
    (env() as { OUTBOUND_LOOPBACK?: string }).OUTBOUND_LOOPBACK = [shop, plain, domain].join(",");
    forget("outbound/guarded-fetch");
    const { sellerId } = await newSeller(owner.credential, { domain, payTo, method: "POST", resourceId: "posted" });
    const refused = await probe("posted");
    expect([refused.status, refused.problem.code]).toEqual([409, "conflict"]);
    expect(refused.problem.nextActions).toMatchObject([{ type: "verify_seller" }]);
    expect(asked).toEqual([]);
    await database().update(sellers).set({ verified: true }).where(eq(sellers.sellerId, sellerId));
    expect((await probe("posted")).data.status).toBe(200);
    expect(asked).toEqual(["POST"]);
  });

  test("429 after ten calls a minute of one organization to unverified domains, by any operation", async () => {
    const eager = await newOrganization({ productRoles: ["seller"] });
    const { sellerId } = await newSeller(eager.credential, { domain: plain, resourceId: "eager" });
    const verify = () =>
      send(contract.verifySellerDomain, verifySellerDomain, {
        as: eager.credential,
        id: sellerId,
        body: { method: "wellKnown" },
      });
    const asked = await Promise.all(
      Array.from({ length: 14 }, (_, index) => (index % 2 === 0 ? probe("eager", {}, eager.credential) : verify())),
    );
    const refused = asked.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(4);
    expect(refused[0]?.headers.get("retry-after")).toBe("60");
    expect(refused[0]?.problem.code).toBe("rate_limited");
    await newSeller(owner.credential, { domain: plain, resourceId: "calm" });
    expect((await probe("calm")).status).toBe(200);
    await database().update(sellers).set({ verified: true }).where(eq(sellers.sellerId, sellerId));
    expect((await probe("eager", {}, eager.credential)).status).toBe(200);
  });

  test("404 hides a resource of another organization", async () => {
    const other = await newOrganization({ productRoles: ["seller"] });
    expect((await probe("right", {}, other.credential)).status).toBe(404);
  });
});
