import { randomBytes } from "node:crypto";
import type { BrowserContext, Page } from "@playwright/test";
import { and, eq } from "drizzle-orm";
import { basketHash, canonicalBasket, type Line } from "#lib/approvals/basket.ts";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { call } from "#lib/http/client.ts";
import { newId } from "#lib/ids.ts";
import { createMandate } from "#lib/mandates/contract.ts";
import { mandateSellers } from "#lib/mandates/tables.ts";
import { atomicOf, formatAmount, parseAmount } from "#lib/money.ts";
import { authorizePayment } from "#lib/payments/contract.ts";
import { registerSeller, upsertPaidResource } from "#lib/sellers/contract.ts";
import { resources, sellers } from "#lib/sellers/tables.ts";
import { newKey, newOrganization, type Agent, type Owner } from "#test/identity.ts";
import { localChainId, usdcAddress } from "../../examples/chain.ts";
import { activate } from "./activate.ts";
import { signInAs } from "./journey.ts";

const DECIMALS = 6;
const payTo = "0x7a3f19bc24e05d8816a2fb93d07c5e41b92ac41d";
const price = "43";

const at = () => ({ baseUrl: process.env["BASE_URL"] ?? "" });
const as = ({ credential }: Pick<Owner | Agent, "credential">) => ({ ...at(), headers: credential });

export type Purchase = {
  readonly buyer: Owner;
  readonly agent: Agent;
  readonly mandateId: string;
  readonly seller: { readonly sellerId: string; readonly domain: string };
};

/** Creates an active mandate of the buyer: 100 USDC per payment, 250 per month, and a person must approve payments above 25. */
export async function writeMandate(buyer: Owner, name: string): Promise<string> {
  const { mandateId } = await call(
    createMandate,
    {
      body: {
        name,
        policy: {
          assets: [{ asset: "USDC", chain: localChainId }],
          limits: { perPayment: "100", budgets: [{ period: "month", timezone: "UTC", amount: "250" }] },
          approval: { mode: "above", amount: "25" },
        },
      },
    },
    as(buyer),
  );
  await activate(mandateId, as(buyer));
  return mandateId;
}

async function openShop(domain: string): Promise<Purchase["seller"]> {
  const owner = await newOrganization({ name: "Acme Supply", productRoles: ["seller"] });
  const { sellerId } = await call(registerSeller, { body: { name: "Acme Supply", domain } }, as(owner));
  await call(
    upsertPaidResource,
    {
      id: "report",
      body: {
        sellerId,
        method: "GET",
        pathTemplate: "/report",
        description: "Yearly market report",
        pricing: { type: "fixed", amount: price, asset: "USDC" },
        acceptedPaymentChallengeTypes: ["x402"],
        paymentConfig: { chain: localChainId, payTo },
      },
    },
    as(owner),
  );
  await database().update(sellers).set({ verified: true }).where(eq(sellers.sellerId, sellerId));
  return { sellerId, domain };
}

type Shop = { readonly known?: boolean; readonly domain?: string };

/**
 * A buyer with an agent and a mandate, and a shop. The first payment to a shop needs the buyer's password. With `known`, which
 * is the default, the database says that this payment was already made.
 */
export async function newPurchase({ known = true, domain }: Shop = {}): Promise<Purchase> {
  const buyer = await newOrganization({ name: "Larkfield Research" });
  const agent = await newKey(buyer);
  const seller = await openShop(domain ?? `acme-${randomBytes(4).toString("hex")}.example`);
  const purchase = { buyer, agent, mandateId: await writeMandate(buyer, "Lab supplies"), seller };
  if (known)
    await database()
      .insert(mandateSellers)
      .values({ mandateId: purchase.mandateId, sellerId: seller.sellerId, firstPaidAt: new Date() });
  return purchase;
}

/** Requests as the agent a payment that needs approval. Returns the path of the confirmation page. */
export async function askAPerson({ agent, mandateId, seller }: Purchase): Promise<string> {
  const id = randomBytes(8).toString("hex");
  const { policyDecision } = await call(
    authorizePayment,
    {
      body: {
        mandateId,
        intent: {
          intentId: id,
          nonce: id,
          idempotencyKey: id,
          seller: { sellerId: seller.sellerId },
          resource: { resourceId: "report" },
          amount: price,
          asset: "USDC",
          expiresAt: new Date(Date.now() + 900_000).toISOString(),
        },
      },
    },
    as(agent),
  );
  const href = policyDecision.reasons.find(({ code }) => code === "approval_required")?.href;
  if (href === undefined) throw new Error(`No link in ${JSON.stringify(policyDecision)}`);
  return new URL(href).pathname;
}

type Browser = { readonly page: Page; readonly context: BrowserContext };

/** Opens the confirmation page of a new payment that needs approval, signed in as its buyer. */
export async function openRequest({ page, context }: Browser, shop?: Shop) {
  const purchase = await newPurchase(shop);
  const path = await askAPerson(purchase);
  await signInAs(context, purchase.buyer.credential);
  await page.goto(path);
  return { purchase, path };
}

const idOf = (path: string): string => path.split("/").at(-1) ?? "";

export async function changeCheckout(path: string, values: Partial<typeof checkoutIntents.$inferInsert>): Promise<void> {
  await database()
    .update(checkoutIntents)
    .set(values)
    .where(eq(checkoutIntents.checkoutIntentId, idOf(path)));
}

export async function statusOf(path: string): Promise<string | undefined> {
  const found = await database()
    .select({ status: checkoutIntents.status })
    .from(checkoutIntents)
    .where(eq(checkoutIntents.checkoutIntentId, idOf(path)));
  return found[0]?.status;
}

const basketOf = (sellerId: string, lines: readonly Line[]) => {
  const basket = canonicalBasket(sellerId, { asset: "USDC", tokenDecimals: DECIMALS }, lines);
  const amount = lines.reduce((sum, line) => sum + parseAmount(line.unitAmount, DECIMALS) * BigInt(line.quantity), 0n);
  return { canonicalBasket: basket, basketHash: basketHash(basket), amount: atomicOf(amount) };
};

/** Sets the price of the shop's resource to the total of the basket, as an online shop would. */
async function priceAt({ sellerId }: Purchase["seller"], amount: bigint, resourceId = "report"): Promise<void> {
  const pricing = { type: "fixed" as const, amount: formatAmount(amount, DECIMALS), asset: "USDC" };
  const own = (id: string) => and(eq(resources.sellerId, sellerId), eq(resources.resourceId, id));
  const [report] = await database().select().from(resources).where(own("report"));
  if (!report) throw new Error("The shop has no resource.");
  if (resourceId === "report") await database().update(resources).set({ pricing }).where(own(resourceId));
  else
    await database()
      .insert(resources)
      .values({ ...report, resourceId, pathTemplate: `/${resourceId}`, pricing });
}

/** Inserts a checkout with the given basket, as previewCheckout does. Baskets with different totals need resources of their own. */
export async function openBasket(
  { buyer, agent, seller, mandateId }: Purchase,
  lines: readonly Line[],
  resourceId = "report",
): Promise<string> {
  const checkoutIntentId = newId("checkoutIntent");
  const basket = basketOf(seller.sellerId, lines);
  await priceAt(seller, basket.amount, resourceId);
  await database()
    .insert(checkoutIntents)
    .values({
      checkoutIntentId,
      organizationId: buyer.organizationId,
      environment: "sandbox",
      ownerSubjectId: agent.serviceAccountId,
      sellerId: seller.sellerId,
      resourceId,
      domain: seller.domain,
      storefrontUrl: `https://${seller.domain}`,
      mandateId,
      detectedMandateId: mandateId,
      mandateStatus: "active_match",
      ...basket,
      asset: "USDC",
      chain: localChainId,
      payTo,
      tokenAddress: usdcAddress,
      tokenDecimals: DECIMALS,
      quoteId: `quote-${checkoutIntentId}`,
      createsFulfillmentOrder: true,
      status: "previewed",
      expiresAt: new Date(Date.now() + 582_000),
    });
  return `/checkout/${checkoutIntentId}`;
}

export async function changeBasket({ seller }: Purchase, path: string, lines: readonly Line[]): Promise<void> {
  const basket = basketOf(seller.sellerId, lines);
  await priceAt(seller, basket.amount);
  await changeCheckout(path, basket);
}
