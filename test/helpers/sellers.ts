import { randomBytes } from "node:crypto";
import type { Address } from "viem";
import * as contract from "#lib/sellers/contract.ts";
import { registerSeller } from "#lib/sellers/register-seller.ts";
import { upsertPaidResource } from "#lib/sellers/resources/upsert-paid-resource.ts";
import type { ResourceSettlementMode } from "#lib/vocabulary.ts";
import { send, type Credential } from "#test/tenant.ts";

type Shop = {
  readonly domain?: string;
  readonly resourceId?: string;
  readonly method?: "GET" | "POST";
  readonly pathTemplate?: string;
  readonly price?: string;
  readonly asset?: string;
  readonly chain?: string;
  readonly payTo?: Address;
  readonly settlementMode?: ResourceSettlementMode;
  readonly facilitatorUrl?: string;
  readonly maxTimeoutSeconds?: number;
};

/**
 * Registers a seller with one resource that can be paid, with the real operations. `as` are the headers of a caller who has the
 * permission, such as an owner.
 */
export async function newSeller(as: Credential, shop: Shop = {}) {
  const domain = shop.domain ?? `shop-${randomBytes(4).toString("hex")}.example.com`;
  const seller = await send(contract.registerSeller, registerSeller, { as, body: { name: "Shop", domain } });
  if (seller.status !== 201) throw new Error(JSON.stringify(seller.problem));
  const { sellerId } = seller.data;
  const { resourceId = "report", price = "0.25", chain = "eip155:84532", payTo = randomAddress() } = shop;
  const { settlementMode, facilitatorUrl, maxTimeoutSeconds } = shop;
  const body = {
    sellerId,
    method: shop.method ?? "GET",
    pathTemplate: shop.pathTemplate ?? "/report",
    pricing: { type: "fixed", amount: price, asset: shop.asset ?? "USDC" },
    acceptedPaymentChallengeTypes: ["x402"],
    paymentConfig: { chain, payTo, settlementMode, facilitatorUrl, maxTimeoutSeconds },
  };
  const resource = await send(contract.upsertPaidResource, upsertPaidResource, { as, id: resourceId, body });
  if (resource.status !== 200) throw new Error(JSON.stringify(resource.problem));
  return { sellerId, domain: seller.data.domain, resourceId, price, payTo, resource: resource.data };
}

export const randomAddress = (): Address => `0x${randomBytes(20).toString("hex")}`;
