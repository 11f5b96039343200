import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as contract from "#lib/commerce/checkout-contract.ts";
import { rejectCheckout } from "#lib/commerce/reject-checkout.ts";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";
import { dispatch } from "#lib/server/entry.ts";
import { useChain } from "#test/chain.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets } from "#test/mandates.ts";
import { stockFacilitator } from "#test/shop.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";
import type { AgentOptions } from "./without-package.ts";
import { askReadiness, checkoutIn, preview, shoppingAt, waitForBuyer } from "./order.ts";
import { startStorefront, type Storefront } from "./storefront/server.ts";

useDatabase();
const chain = useChain();

let shop: Storefront;
let person: Credential;
let agent: AgentOptions;

beforeAll(async () => {
  const [configured] = env().CHAINS as { rpcUrl: string }[];
  if (configured) configured.rpcUrl = chain().rpcUrl;
  shop = await startStorefront({ facilitator: await stockFacilitator(chain()), payTo: `0x${"5a".repeat(20)}` });
  (env() as { OUTBOUND_LOOPBACK?: string }).OUTBOUND_LOOPBACK = shop.domain;
  forget("outbound/guarded-fetch", "payments/probe-domain", "chains/client eip155:84532");
  const organizationId = await createOrganization("Buyer");
  person = (await createPerson(organizationId)).credential;
  const { credential } = await createAgent(organizationId, ["readiness:read", "checkouts:preview", "checkouts:read"]);
  const limits = { perPayment: "50", total: "100" };
  const policy = { assets, limits, sellers: { unregistered: "allow" }, approval: { mode: "always" } };
  agent = {
    serviceUrl: env().BASE_URL,
    apiKey: credential["authorization"]?.replace("Bearer ", "") ?? "",
    mandateId: await activeMandate(person, { policy }),
    wallet: privateKeyToAccount(generatePrivateKey()),
    fetch: (input, init) => dispatch(new Request(input, init)),
  };
});
afterAll(() => shop.close());

describe("the example agent", () => {
  it("checks readiness, shows the buyer the basket, and gets the decision at once", async () => {
    const shopping = shoppingAt(shop.url, [{ query: "blue mug", quantity: 2 }]);
    expect((await askReadiness(agent, shopping)).status).toBe("actionRequired");
    const { intent, nextAction } = await preview(agent, shopping);
    expect(checkoutIn(nextAction.url ?? "")).toBe(intent.checkoutIntentId);
    const waiting = waitForBuyer(agent, intent.checkoutIntentId);
    await send(contract.rejectCheckout, rejectCheckout, { as: person, id: intent.checkoutIntentId, body: {} });
    expect((await waiting).intent.status).toBe("rejected");
  });

  it("gets the checks that prevent the order", async () => {
    const refused = preview(agent, shoppingAt(shop.url, [{ query: "mug" }]));
    await expect(refused).rejects.toMatchObject({ cause: { code: "items_ambiguous" } });
  });
});
