import { namesDomain } from "#lib/mandates/rules-seller.ts";
import type { CompiledPolicy } from "#lib/mandates/compile-policy.ts";
import type { Decision } from "#lib/mandates/facts.ts";
import type { RegisteredResource, RegisteredSeller } from "#lib/payments/compare-intent.ts";
import type { AskedIntent } from "#lib/payment-intent.ts";
import type { Terms } from "#lib/payments/present-intent.ts";
import type { OfferJudgement, Offer } from "#lib/payments/unregistered-offer.ts";
import { fitsTemplate } from "#lib/sellers/resource-of-payment.ts";
import type { WantedOffer } from "#lib/sellers/seen-offer-store.ts";

/*
 * The check for a payment at a domain that the mandate allows but the seller has not verified. Anyone can claim a domain, so
 * this service requests a 402 from the domain itself. That 402 must name the same payee, asset and network, and also the same
 * price unless the seller quotes each price.
 */

/** An offer that the domain's own 402 must make. `url` is the address to request; null if it is not known. */
export type OfferProbe = WantedOffer & { readonly url: string | null };
export type DueProbe = WantedOffer & { readonly url: string };

/** The result of calling the domain. `words` is a sentence for the decision's reason; empty if `seen`. */
export type ProbeResult = { readonly key: string; readonly seen: boolean; readonly words: string };

export const keyOf = ({ domain, payTo, chain, tokenAddress, amount }: WantedOffer): string =>
  [domain, payTo, chain, tokenAddress, amount ?? "any"].join(" ");

type Payee = {
  readonly seller: RegisteredSeller | null;
  readonly resource: RegisteredResource | null;
  readonly offered: OfferJudgement | null;
  readonly read: Terms;
};

/**
 * The URL to request. Without a registered seller and resource: the challenge's URL. For a registered resource: the challenge's URL
 * if it is on the seller's domain and fits the path template; otherwise the path template, if it has no parameter. Null if
 * neither can be used.
 */
function urlOf({ seller, resource }: Payee, offer: Offer | null): string | null {
  if (!seller || !resource) return offer?.url ?? null;
  const { pathTemplate } = resource;
  if (offer?.domain === seller.domain && fitsTemplate(new URL(offer.url).pathname, pathTemplate)) return offer.url;
  // A domain with a port is a loopback host, which only a sandbox allows as a seller's domain. Such a seller uses plain HTTP.
  const base = `${seller.domain.includes(":") ? "http" : "https"}://${seller.domain}`;
  return pathTemplate.includes("{") ? null : `${base}${pathTemplate}`;
}

/**
 * The offer that the domain must confirm. Null for a verified seller, if the domain or the payee address is not known, or if
 * the challenge of an unregistered payee could not be compared with the intent. Also null if the policy has no list of allowed
 * domains, does not allow this domain, or allows the seller or the payee address itself.
 */
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

/**
 * Whether the unverified domain is the only reason for the denial. If there is another reason to deny, the service does not
 * call the domain.
 */
export const onlyUnproven = ({ outcome, reasons }: Decision): boolean =>
  outcome === "deny" &&
  reasons.every(({ effect, code, rule }) => effect !== "deny" || (code === "seller_unverified" && rule === "domains"));
