import { namesDomain } from "#lib/mandates/policy/rules-seller.ts";
import type { CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { Decision } from "#lib/mandates/policy/facts.ts";
import type { RegisteredResource, RegisteredSeller } from "#lib/payments/offers/compare-intent.ts";
import type { AskedIntent } from "#lib/payment-intent.ts";
import type { Terms } from "#lib/payments/offers/present-intent.ts";
import type { OfferJudgement, Offer } from "#lib/payments/unregistered-offer.ts";
import { fitsTemplate } from "#lib/sellers/resource-of-payment.ts";
import type { WantedOffer } from "#lib/sellers/seen-offer-store.ts";

/*
 * Anyone can claim a domain. So for an allowed but unverified domain, this service requests a 402 from the domain itself, which
 * must name the same payee, asset and network, and also the same price unless the seller quotes each price.
 */

/** An offer that the domain's own 402 must make. `url` is the address to request; null if it is not known. */
export type OfferProbe = WantedOffer & { readonly url: string | null };
export type DueProbe = WantedOffer & { readonly url: string };

/** The result of calling the domain. `words` is the text for the decision's reason; empty if `seen`. */
export type ProbeResult = { readonly key: string; readonly seen: boolean; readonly words: string };

export const keyOf = ({ domain, payTo, chain, tokenAddress, amount }: WantedOffer): string =>
  [domain, payTo, chain, tokenAddress, amount ?? "any"].join(" ");

type Payee = {
  readonly seller: RegisteredSeller | null;
  readonly resource: RegisteredResource | null;
  readonly offered: OfferJudgement | null;
  readonly read: Terms;
};

/** For a registered resource, the challenge's URL if it fits domain and template, else the template, if it has no parameters. */
function urlOf({ seller, resource }: Payee, offer: Offer | null): string | null {
  if (!seller || !resource) return offer?.url ?? null;
  const { pathTemplate } = resource;
  if (offer?.domain === seller.domain && fitsTemplate(new URL(offer.url).pathname, pathTemplate)) return offer.url;
  // A domain with a port is a loopback host, which is called by plain HTTP.
  const base = `${seller.domain.includes(":") ? "http" : "https"}://${seller.domain}`;
  return pathTemplate.includes("{") ? null : `${base}${pathTemplate}`;
}

/** Null if the domain need not or cannot confirm an offer. */
export function probeFor(policy: CompiledPolicy, intent: AskedIntent, payee: Payee, offer: Offer | null): OfferProbe | null {
  const { seller, resource, offered, read } = payee;
  const allowed = policy.domains?.allow ?? null;
  if (allowed === null || seller?.verified === true) return null;
  const domain = seller?.domain ?? offered?.facts.domain ?? null;
  const payTo = (resource?.paymentConfig.payTo ?? (offered?.accepted ? intent.payTo : undefined))?.toLowerCase();
  if (domain === null || payTo === undefined || !namesDomain(allowed, domain)) return null;
  if (policy.payTo?.allow?.has(payTo) || (seller && policy.sellers?.allow?.has(seller.sellerId))) return null;
  const { chain, asset, amount } = read;
  const priced = resource?.pricing.type === "quoted" ? null : amount;
  return { domain, payTo, chain, tokenAddress: asset.tokenAddress, amount: priced, url: urlOf(payee, offer) };
}

/** If there is another reason to deny, the service does not call the domain. */
export const onlyUnproven = ({ outcome, reasons }: Decision): boolean =>
  outcome === "deny" &&
  reasons.every(({ effect, code, rule }) => effect !== "deny" || (code === "seller_unverified" && rule === "domains"));
