import { call } from "#lib/http/client.ts";
import { createServiceAccount } from "#lib/identity/keys/contract.ts";
import { activateMandate, createMandate } from "#lib/mandates/contract.ts";
import { registerSeller, upsertPaidResource } from "#lib/sellers/contract.ts";
import type { Capability, ResourceSettlementMode } from "#lib/vocabulary.ts";
import { localChainId } from "../../examples/chain.ts";
import { proving } from "../proving.ts";
import { introduce, type Person } from "./person.ts";
import { shopPrices, type Stage } from "./stage.ts";
import { section, step } from "./timeline.ts";

const MINTED = 10_000_000n;

export type Parties = {
  readonly buyer: Person;
  readonly sellerOwner: Person;
  readonly sellerId: string;
  readonly agentId: string;
  readonly apiKey: string;
  readonly mandateId: string;
};

export const resourceIdOf = (path: string): string => path.slice(1);

const sayWho = (tell: (label: string, text: string) => void, { email, organizationId, session }: Person): void => {
  tell("person", email);
  tell("works for", session.activeOrganization?.name ?? "");
  tell("id", organizationId);
};

/** Registers a shop that runs on this machine, and all paths that it sells. Returns the seller's id. */
export async function registerShop(
  { seller }: Stage,
  owner: Person,
  shop: { readonly name: string; readonly domain: string; readonly settlementMode: ResourceSettlementMode },
  prices: Readonly<Record<string, string>>,
): Promise<string> {
  const { name, domain, settlementMode } = shop;
  const { sellerId } = await owner.ask(registerSeller, { body: { name, domain } });
  for (const [pathTemplate, price] of Object.entries(prices)) {
    await owner.ask(upsertPaidResource, {
      id: resourceIdOf(pathTemplate),
      body: {
        sellerId,
        method: "GET",
        pathTemplate,
        pricing: { type: "fixed", amount: price.slice(1), asset: "USDC" },
        acceptedPaymentChallengeTypes: ["x402"],
        paymentConfig: { payTo: seller.address, settlementMode },
      },
    });
  }
  return sellerId;
}

/** Creates a service account with a key. Without `capabilities` the account gets those of an agent. */
export const serviceAccountOf = ({ ask, organizationId }: Person, name: string, capabilities?: Capability[]) =>
  ask(createServiceAccount, { body: { name, organizationId, ...(capabilities && { capabilities }) } });

/**
 * Creates and activates a mandate of 50 USDC per payment and 100 per day, which also allows sellers that are not registered. A
 * person must approve payments above 10 USDC.
 */
export async function writeShoppingMandate(person: Person, agentId: string, wallet: string) {
  const draft = await person.ask(createMandate, {
    body: {
      name: "Office supplies",
      policy: {
        assets: [{ asset: "USDC", chain: localChainId }],
        limits: { perPayment: "50", budgets: [{ period: "day", timezone: "UTC", amount: "100" }] },
        sellers: { unregistered: "allow" },
        approval: { mode: "above", amount: "10" },
      },
      agents: [agentId],
      wallet: { chain: localChainId, address: wallet },
    },
  });
  return call(activateMandate, { id: draft.mandateId }, proving(person.password, person.options));
}

/**
 * Creates and activates a mandate of 5 USDC per day and 1 USDC per payment, only for this agent and this wallet. It pays sellers
 * that are not registered only if `unregistered` is "allow".
 */
export async function writeMandate(person: Person, agentId: string, wallet: string, unregistered: "deny" | "allow" = "deny") {
  const draft = await person.ask(createMandate, {
    body: {
      name: "Research agent",
      policy: {
        assets: [{ asset: "USDC", chain: localChainId }],
        limits: { perPayment: "1", budgets: [{ period: "day", timezone: "UTC", amount: "5" }] },
        sellers: { unregistered },
      },
      agents: [agentId],
      wallet: { chain: localChainId, address: wallet },
    },
  });
  return call(activateMandate, { id: draft.mandateId }, proving(person.password, person.options));
}

/** Signs up the buyer and the seller's owner, registers the shop, and creates the agent's account and its mandate. */
export async function setUp(stage: Stage): Promise<Parties> {
  const { service, chain, agent, keyFile, shop } = stage;
  section("Two people set up their organizations through the API");
  const buyer = await step("Ada signs up and creates an organization that buys", async (tell) => {
    const person = await introduce(service.url, { name: "Ada", organizationName: "Acme Research", productRoles: ["buyer"] });
    sayWho(tell, person);
    return person;
  });
  const sellerOwner = await step("Sam signs up and creates an organization that sells", async (tell) => {
    const person = await introduce(service.url, { name: "Sam", organizationName: "Example Data", productRoles: ["seller"] });
    sayWho(tell, person);
    return person;
  });
  const sellerId = await step("Sam registers the seller and its paid resources", async (tell) => {
    const domain = { name: "Example Data", domain: shop, settlementMode: "offchainAuthorized" } as const;
    const id = await registerShop(stage, sellerOwner, domain, shopPrices);
    tell("seller", id);
    for (const [path, price] of Object.entries(shopPrices)) tell("resource", `${resourceIdOf(path)}: GET ${path} for ${price}`);
    tell("paid to", stage.seller.address);
    return id;
  });
  const account = await step("Ada creates a service account for her agent", async (tell) => {
    const made = await serviceAccountOf(buyer, "Research agent");
    tell("agent", made.serviceAccountId);
    tell("key", made.keyPreview);
    return made;
  });
  await step("The agent's wallet gets 10 test USDC; it needs no ether for gas", async (tell) => {
    await chain.mint(agent.address, MINTED);
    tell("wallet", agent.address);
    tell("key file", keyFile);
  });
  const mandate = await step("Ada writes a mandate and activates it", async (tell) => {
    const active = await writeMandate(buyer, account.serviceAccountId, agent.address);
    tell("mandate", active.mandateId);
    tell("limits", "5 USDC a day, 1 USDC a payment, only from this wallet");
    return active;
  });
  const { serviceAccountId: agentId, apiKey = "" } = account;
  return { buyer, sellerOwner, sellerId, agentId, apiKey, mandateId: mandate.mandateId };
}
