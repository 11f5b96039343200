import { database } from "#lib/db/client.ts";
import { assetOf } from "#lib/chains/chains.ts";
import { notFound, Problem } from "#lib/problem.ts";
import { resourceAddress, methodOf } from "#lib/sellers/resources/probe-resource.ts";
import { findOwnSeller } from "#lib/sellers/store.ts";
import { findOwnResource } from "#lib/sellers/resource-store.ts";
import { challengeOf } from "#lib/x402/challenge-header.ts";
import { exactOffers } from "#lib/x402/compare-challenge.ts";
import { guardedFetch } from "#lib/outbound/guarded-fetch.ts";
import { storefrontInvalid } from "#lib/outbound/storefront-problem.ts";
import type { Environment } from "#lib/vocabulary.ts";

export const notVerified = (): Problem =>
  new Problem("conflict", {
    detail:
      "This seller has not verified its domain, so its 402 proves nothing. Verify the domain first, or sign with the address.",
    nextActions: [{ type: "verify_seller", label: "Verify the domain" }],
  });

type Which = {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly sellerId: string;
  readonly resourceId: string;
};

/** Requests the resource: its 402 must name the registered address. Returns the address and the chain. */
export async function requireNamed(which: Which, path: string | undefined): Promise<{ address: string; chain: string }> {
  const { organizationId, environment, sellerId } = which;
  const seller = await findOwnSeller(database(), environment, organizationId, sellerId);
  const resource = seller && (await findOwnResource(database(), which));
  if (!resource) throw notFound("resource");
  if (!seller.verified) throw notVerified();
  const { paymentConfig, pricing } = resource;
  const token = paymentConfig && assetOf(paymentConfig.chain, pricing.asset);
  if (!token) throw new Problem("conflict", { detail: "This resource does not say yet whom to pay, or in what." });
  const url = resourceAddress(seller.domain, resource, path);
  const method = methodOf(resource);
  const reply = await guardedFetch(url, { method, ...(method === "POST" && { json: {} }), expect: "text" });
  if (new URL(reply.url).host !== seller.domain) throw storefrontInvalid(`${seller.domain} sent us to another host.`);
  if (reply.status !== 402) throw storefrontInvalid(`${seller.domain} answered ${reply.status} instead of asking for payment.`);
  const address = paymentConfig.payTo.toLowerCase();
  const offers = exactOffers(challengeOf(reply)).filter(
    ({ network, asset }) => network === token.chain && asset.toLowerCase() === token.tokenAddress,
  );
  if (!offers.some(({ payTo }) => payTo.toLowerCase() === address))
    throw storefrontInvalid(`The 402 of ${seller.domain} does not name the registered address ${paymentConfig.payTo}.`);
  return { address, chain: token.chain };
}
