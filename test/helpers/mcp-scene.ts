import { afterAll, beforeAll, expect } from "vitest";
import { startSeller, type Seller } from "../../examples/seller.ts";
import { env } from "#lib/env.ts";
import { advertisedScopes } from "#lib/identity/oauth/authenticate-agent.ts";
import { approve, items, open, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { newKey as newAgent, newOrganization, type Agent, type Owner } from "#test/identity.ts";
import { closeClients, newClient, type Fields } from "#test/mcp.ts";
import { activeMandate, assets, CHAIN } from "#test/mandates.ts";
import { connected, registerClient } from "#test/oauth.ts";
import { useSettlement } from "#test/payments.ts";
import { brokenInvariants } from "#test/proof.ts";
import { register, useContracts } from "#test/registered.ts";
import { listenService, stockFacilitator, type ListeningServer } from "#test/shop.ts";
import { delegated, newKey } from "#test/smart-account.ts";
import type { Credential } from "#test/tenant.ts";

/* What tests of the MCP server need: agents, a seller made with the x402 library, an online shop, and mandates, some of which
   are registered on the chain. */

const payTo = newKey().address;
const offer = {
  scheme: "exact",
  network: CHAIN,
  amount: "250000",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo,
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2" },
};

const reached: string[] = [];
/** Allows the service to send requests to this address of this machine. */
export function reachHost(url: string): void {
  reached.push(new URL(url).host);
  (env() as { OUTBOUND_LOOPBACK?: string }).OUTBOUND_LOOPBACK = reached.join(",");
}

export const text = (fields: Fields, name: string): string => String(fields[name]);
export const idIn = (url: string): string => url.split("/").at(-1) ?? "";

/** A program that a person has connected by OAuth, with the rights of an agent. */
export async function connectedAgent({ credential }: Owner): Promise<Credential> {
  const scope = advertisedScopes.join(" ");
  const { access_token } = await connected(
    credential,
    await registerClient(credential),
    { capabilities: advertisedScopes },
    { scope },
  );
  return { authorization: `Bearer ${access_token}` };
}

type Scene = {
  readonly service: ListeningServer;
  readonly seller: Seller;
  readonly shop: HostileStorefront;
  readonly owner: Owner;
  readonly agent: Agent;
};

/** Sets up the services of a test file, and returns functions that its tests share. */
export function mcpScene() {
  useDatabase();
  const chain = useSettlement();
  const contracts = useContracts(chain);
  let built: Scene | undefined;
  const scene = (): Scene => {
    if (!built) throw new Error("The scene can be used only while the tests of its file run.");
    return built;
  };

  /**
   * Creates an active mandate whose wallet is a delegated account, and registers it on the chain. The payee is the seller, or
   * with `forShop` the shop, whose payments are larger.
   */
  async function registeredMandate(approval: object, forShop = false): Promise<string> {
    const { owner, shop } = scene();
    const key = await delegated(chain(), contracts().implementation);
    await chain().mint(key.address, 100_000_000n);
    const limits = { perPayment: forShop ? "100" : "1", total: "100" };
    const policy = { assets, limits, sellers: { unregistered: "allow" }, approval };
    const mandateId = await activeMandate(owner.credential, { policy, wallet: { chain: CHAIN, address: key.address } });
    const [perPaymentLimit, payee] = forShop ? [25_000_000n, shop.payTo] : [250_000n, payTo];
    const terms = { perPaymentLimit, periodLimit: 40n * perPaymentLimit, maxPaymentsPerPeriod: 40 };
    await register(chain(), contracts(), key, { mandateId, organizationId: owner.organizationId, payTo: payee, terms });
    return mandateId;
  }

  /**
   * A mandate under which a person must approve every payment. Under one mandate there is at most one open request about the same
   * payment, so most tests have a mandate of their own.
   */
  const askingMandate = () => activeMandate(scene().owner.credential, { policy: { ...open, approval: { mode: "always" } } });

  /** `free` is a mandate under which nobody is asked. `orders` is a mandate for orders under which a person is always asked. */
  const mandate = { free: "", orders: "" };
  beforeAll(async () => {
    const owner = await newOrganization();
    built = {
      owner,
      agent: await newAgent(owner),
      service: await listenService(),
      seller: await startSeller({ facilitator: await stockFacilitator(chain()), payTo }),
      shop: await openHostileStorefront(),
    };
    for (const { url } of [built.seller, built.shop]) reachHost(url);
    mandate.free = await registeredMandate({ mode: "never" });
    mandate.orders = await askingMandate();
  });
  afterAll(async () => {
    await closeClients();
    const { service, seller, shop } = scene();
    await Promise.all([service.close(), seller.close(), shop.close()]);
    expect(await brokenInvariants()).toEqual([]);
  });

  let count = 0;
  const reportUrl = () => `${scene().seller.url}/report`;
  const intent = () => ({
    seller: {},
    amount: "0.25",
    asset: "USDC",
    chain: CHAIN,
    payTo,
    challenge: { x402Version: 2, resource: { url: reportUrl() }, accepts: [offer] },
  });
  return {
    scene,
    chain,
    mandate,
    registeredMandate,
    askingMandate,
    intent,
    /* `report`, `asks` and `basket` return arguments that are different in each call. */
    report: (mandateId: string) => ({ url: reportUrl(), mandateId, purpose: `Report ${++count}` }),
    asks: (mandateId: string) => ({ mandateId, intent: intent(), purpose: `Payment ${++count}` }),
    basket: (mandateId = mandate.orders) => ({
      storefrontUrl: scene().shop.url,
      mandateId,
      items,
      purpose: `Order ${++count}`,
    }),
    client: (as: Pick<Agent, "credential"> = scene().agent) => newClient(scene().service.url, as.credential),
    approved: async (checkoutIntentId: string): Promise<void> => {
      const { owner } = scene();
      await reviewed(checkoutIntentId, owner);
      expect((await approve(checkoutIntentId, owner.credential)).status).toBe(200);
    },
  };
}
