import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSeller, type Seller } from "../examples/seller.ts";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";
import { approve, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newKey as newAgent, newOrganization, type Agent, type Owner } from "#test/identity.ts";
import { newClient, oldClient } from "#test/mcp.ts";
import { activeMandate, assets, CHAIN } from "#test/mandates.ts";
import { useSettlement } from "#test/payments.ts";
import { brokenInvariants } from "#test/proof.ts";
import { register, useContracts } from "#test/registered.ts";
import { listenService, stockFacilitator, type ListeningServer } from "#test/shop.ts";
import { delegated, newKey } from "#test/smart-account.ts";

/* The MCP server as agents meet it: the official clients, a stock seller and a mandate that is registered on the chain. */

useDatabase();
const chain = useSettlement();
const contracts = useContracts(chain);

let service: ListeningServer;
let seller: Seller;
let owner: Owner;
let agent: Agent;
const payTo = newKey().address;
const free = { mandateId: "" };
const asking = { mandateId: "" };

/** An active mandate whose wallet is a delegated account, registered for the seller. */
async function registeredMandate(approval: object): Promise<string> {
  const key = await delegated(chain(), contracts().implementation);
  await chain().mint(key.address, 10_000_000n);
  const policy = { assets, limits: { perPayment: "1", total: "100" }, sellers: { unregistered: "allow" }, approval };
  const mandateId = await activeMandate(owner.credential, { policy, wallet: { chain: CHAIN, address: key.address } });
  const terms = { periodLimit: 10_000_000n, maxPaymentsPerPeriod: 40 };
  await register(chain(), contracts(), key, { mandateId, organizationId: owner.organizationId, payTo, terms });
  return mandateId;
}

beforeAll(async () => {
  owner = await newOrganization();
  agent = await newAgent(owner);
  service = await listenService();
  seller = await startSeller({ facilitator: await stockFacilitator(chain()), payTo });
  (env() as { OUTBOUND_LOOPBACK?: string }).OUTBOUND_LOOPBACK = new URL(seller.url).host;
  for (const name of ["outbound", "outboundPaidFetch"]) forget(name);
  free.mandateId = await registeredMandate({ mode: "never" });
  asking.mandateId = await registeredMandate({ mode: "always" });
}, 120_000);
afterAll(async () => {
  await Promise.all([service.close(), seller.close()]);
  expect(await brokenInvariants()).toEqual([]);
});

const report = () => `${seller.url}/report`;

describe("an official client", () => {
  test.each([
    ["2026-07-28", newClient],
    ["2025", oldClient],
  ] as const)(
    "of protocol %s fetches a page, pays for it, and pays a repeat only under another purchaseId",
    async (_, connect) => {
      const { client, call } = await connect(service.url, agent.credential);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual([
        "get_budget",
        "check_purchase",
        "fetch_paid",
        "authorize_payment",
        "execute_payment",
        "place_order",
        "get_payment",
        "cancel",
      ]);
      const budget = await call("get_budget");
      expect(budget.structuredContent).toMatchObject({ status: "ok" });
      const before = seller.served();
      const args = { url: report(), mandateId: free.mandateId, purpose: `For ${connect.name}` };
      const paid = await call("fetch_paid", args);
      expect(paid.structuredContent).toMatchObject({
        status: "paid",
        answer: { status: 200, text: '{"report":"all is well"}', untrusted: true },
      });
      const repeated = await call("fetch_paid", args);
      expect(repeated.structuredContent).toMatchObject({ ...paid.structuredContent, repeated: true });
      expect(seller.served()).toBe(before + 1);
    },
  );
});

describe("approval", () => {
  test("by URL elicitation: the client shows the page, a person approves, and the paid answer comes back", async () => {
    const shown: string[] = [];
    const { call } = await newClient(service.url, agent.credential, async ({ url }) => {
      shown.push(url);
      const checkoutIntentId = url.split("/").at(-1)!;
      await reviewed(checkoutIntentId, owner);
      expect((await approve(checkoutIntentId, owner.credential)).status).toBe(200);
      return "accept" as const;
    });
    const paid = await call("fetch_paid", { url: report(), mandateId: asking.mandateId });
    expect(paid.structuredContent).toMatchObject({ status: "paid" });
    expect(shown).toHaveLength(1);
  });
});
