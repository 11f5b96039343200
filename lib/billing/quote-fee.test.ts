import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import * as contract from "#lib/billing/contract.ts";
import { quoteFee } from "#lib/billing/quote-fee.ts";
import { accrueFees } from "#lib/billing/store.ts";
import { feeQuotes } from "#lib/billing/tables.ts";
import { database } from "#lib/db/client.ts";
import { atomicOf, zero } from "#lib/money.ts";
import { eventsAbout } from "#test/audit.ts";
import { newSchedule, platformAdmin } from "#test/billing.ts";
import { useDatabase } from "#test/database.ts";
import { newSeller } from "#test/sellers.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let admin: Credential;
let buyer: string;
let as: Credential;
let seller: string;
let shop: Awaited<ReturnType<typeof newSeller>>;
beforeAll(async () => {
  admin = (await platformAdmin()).credential;
  buyer = await createOrganization();
  as = (await createAgent(buyer, ["billing:quote"])).credential;
  seller = await createOrganization();
  shop = await newSeller((await createPerson(seller)).credential);
});

const asked = (change: object = {}) => ({ amount: "0.25", asset: "USDC", settlementMode: "offchainAuthorized", ...change });
const quote = (body: unknown, more: { as?: Credential; key?: string } = {}) =>
  send(contract.quoteFee, quoteFee, { as, body, ...more });

describe("quoteFee", () => {
  it("200 quotes the built-in schedule if no other matches; the quote is valid for 15 minutes", async () => {
    const { status, data } = await quote(asked({ metadata: { order: 7 } }));
    expect(status).toBe(200);
    expect(data).toMatchObject({
      feeScheduleId: "fs_default",
      buyerOrganizationId: buyer,
      grossAmount: "0.25",
      sellerNetAmount: "0.25",
      serviceFeeAmount: "0",
      providerFeeAmount: "0",
      networkFeeAmount: "0",
      feePayer: "buyer",
      chain: "eip155:84532",
      metadata: { order: 7 },
    });
    expect(data).not.toHaveProperty("sellerOrganizationId");
    expect(Date.parse(data.expiresAt) - Date.parse(data.createdAt)).toBe(15 * 60_000);
    const rows = await database().select().from(feeQuotes).where(eq(feeQuotes.feeQuoteId, data.feeQuoteId));
    expect(rows).toMatchObject([{ organizationId: buyer, quote: data }]);
    expect(await eventsAbout(data.feeQuoteId)).toMatchObject([{ type: "fee.quoted", chain: buyer }]);
  });

  it("200 finds the seller's organization by sellerId and applies the most specific schedule", async () => {
    await newSchedule(admin, { percentageBps: 100 });
    const close = await newSchedule(admin, { sellerOrganizationId: seller, percentageBps: 250, feePayer: "split" });
    const { data } = await quote(asked({ sellerId: shop.sellerId, resourceId: shop.resourceId, sellerOrganizationId: seller }));
    expect(data).toMatchObject({
      feeScheduleId: close.feeScheduleId,
      serviceFeeAmount: "0.00625",
      sellerNetAmount: "0.246875",
      feePayer: "split",
    });
    expect(data).not.toHaveProperty("sellerOrganizationId");
    expect(JSON.stringify((await quote(asked({ sellerId: shop.sellerId }))).data)).not.toContain(seller);
    const own = (await createAgent(seller, ["billing:quote"])).credential;
    expect((await quote(asked({ sellerOrganizationId: seller }), { as: own })).data.feeScheduleId).toBe(close.feeScheduleId);
    expect((await quote(asked())).data.serviceFeeAmount).toBe("0.0025");
  });

  it("200 charges a fee only for the amount above the included volume", async () => {
    const organizationId = await createOrganization();
    const own = (await createAgent(organizationId, ["billing:quote"])).credential;
    await newSchedule(admin, { buyerOrganizationId: organizationId, percentageBps: 1000, includedMonthlyVolume: 2 });
    const captured = {
      authorizationId: "aut_1",
      organizationId,
      sellerOrganizationId: null,
      buyerShare: zero,
      sellerShare: zero,
    };
    await transact((tx) => accrueFees(tx, { ...captured, amount: atomicOf(1_500_000n), asset: "USDC", chain: "eip155:84532" }));
    expect((await quote(asked({ amount: "0.5" }), { as: own })).data.serviceFeeAmount).toBe("0");
    expect((await quote(asked({ amount: "1.5" }), { as: own })).data.serviceFeeAmount).toBe("0.1");
  });

  it.each<readonly [string, object]>([
    ["/amount", { amount: "0" }],
    ["/amount", { amount: "-1" }],
    ["/amount", { amount: "1e3" }],
    ["/amount", { amount: "NaN" }],
    ["/amount", { amount: "1.0000001" }],
    ["/amount", { amount: `1${"0".repeat(77)}` }],
    ["/amount", { amount: 1 }],
    ["/settlementMode", { settlementMode: "simulated" }],
    ["/enforcementPath", { enforcementPath: "onchain" }],
    ["/paymentProtocol", { paymentProtocol: "mpp" }],
    ["/chain", { chain: "base" }],
    ["/sellerId", { resourceId: "report" }],
    ["/feePayer", { feePayer: "nobody" }],
    ["/feeRecipient", { feeRecipient: "me" }],
    ["/buyerOrganizationId", { buyerOrganizationId: "org_other" }],
  ])("400 points at %s of %j", async (pointer, change) => {
    const { status, problem } = await quote(asked(change));
    expect([status, problem.errors?.map((error) => error.pointer)]).toEqual([400, [pointer]]);
  });

  it("400 if sellerOrganizationId is not the organization of the seller", async () => {
    const { problem } = await quote(asked({ sellerId: shop.sellerId, sellerOrganizationId: buyer }));
    expect(problem.errors?.[0]?.pointer).toBe("/sellerOrganizationId");
  });

  it("403 without billing:quote", async () => {
    const agent = await createAgent(buyer, ["billing:read"]);
    expect((await quote(asked(), { as: agent.credential })).status).toBe(403);
  });

  it("404 for an unknown seller and an unknown resource", async () => {
    const own = (await createAgent(seller, ["billing:quote"])).credential;
    expect((await quote(asked({ sellerId: "sel_unknown" }))).status).toBe(404);
    expect((await quote(asked({ sellerId: shop.sellerId, resourceId: "unknown" }), { as: own })).status).toBe(404);
  });

  it.each([
    ["organization", () => ({ sellerOrganizationId: seller }), { sellerOrganizationId: "org_never" }, 404],
    [
      "organization behind a seller",
      () => ({ sellerOrganizationId: buyer, sellerId: shop.sellerId }),
      { sellerOrganizationId: "org_never" },
      400,
    ],
    ["resource", () => ({ sellerId: shop.sellerId, resourceId: shop.resourceId }), { resourceId: "never" }, 200],
  ] as const)("another organization's %s gets the same answer as an unknown one", async (_what, real, never, status) => {
    const told = async (change: object) => {
      const { status: answered, data, problem } = await quote(asked(change));
      const made = answered === 200 ? { ...data, feeQuoteId: "", createdAt: "", expiresAt: "" } : { ...problem, requestId: "" };
      return { answered, ...made };
    };
    const first = await told(real());
    expect(first.answered).toBe(status);
    expect(await told({ ...real(), ...never })).toEqual(first);
  });

  it.each([
    ["chain_unsupported", { chain: "eip155:1" }],
    ["asset_unsupported", { asset: "EURC" }],
    ["fee_payer_mismatch", { feePayer: "seller" }],
  ])("422 %s for %j", async (code, change) => {
    const { status, problem } = await quote(asked(change));
    expect([status, problem.code]).toEqual([422, code]);
  });

  it("replays one key with the same bytes after the schedule changed", async () => {
    const first = await quote(asked(), { key: "q1" });
    await newSchedule(admin, { buyerOrganizationId: buyer, percentageBps: 9 });
    const again = await quote(asked(), { key: "q1" });
    expect(JSON.stringify(again.data)).toBe(JSON.stringify(first.data));
    expect((await quote(asked({ amount: "0.26" }), { key: "q1" })).status).toBe(422);
  });

  it("parallel calls with one key make one quote", async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => quote(asked(), { key: "q2" })));
    expect(new Set(all.filter(({ status }) => status === 200).map(({ data }) => data.feeQuoteId)).size).toBe(1);
    expect(all.every(({ status }) => status === 200 || status === 409)).toBe(true);
  });
});
