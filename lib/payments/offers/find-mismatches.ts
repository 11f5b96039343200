import { readAmount } from "#lib/money.ts";
import { compareFixed } from "#lib/payments/offers/compare-fixed-price.ts";
import {
  compareIntent,
  type Difference,
  type RegisteredResource,
  type RegisteredSeller,
} from "#lib/payments/offers/compare-intent.ts";
import type { Item } from "#lib/payments/queue-item.ts";
import type { Terms } from "#lib/payments/offers/present-intent.ts";
import { compareQuoted, type OfferJudgement, type Offer } from "#lib/payments/unregistered-offer.ts";

type Parties = {
  readonly seller: RegisteredSeller | null;
  readonly resource: RegisteredResource | null;
  readonly offered: OfferJudgement | null;
};

/** With a quoted price, the payment must fit the 402 in its intent; with a fixed price, that 402 must fit the record. */
export function findMismatches(
  { intent, purchase }: Item,
  { seller, resource, offered }: Parties,
  { chain, amount, digits, asset }: Terms,
  readOffer: (challenge: unknown) => Offer | null,
): readonly Difference[] {
  const found: Difference[] = [...(offered?.mismatches ?? [])];
  if (seller && resource) {
    found.push(...compareIntent(intent, chain, amount, digits, seller, resource));
    const { pricing, paymentConfig } = resource;
    if (pricing.type === "quoted")
      found.push(...compareQuoted(readOffer(intent.challenge), amount, asset, seller.domain, paymentConfig.payTo));
    else if (intent.challenge)
      found.push(...compareFixedPrice(intent.challenge, pricing, paymentConfig, { chain, asset, digits }));
  }
  const more = (purchase?.kind === "order" ? purchase.mismatches : []).filter(
    ({ field }) => !found.some((known) => known.field === field),
  );
  return [...found, ...more];
}

type FixedPricing = Extract<RegisteredResource["pricing"], { type: "fixed" }>;

/** Compares nothing if the token or chain differs, which compareIntent reports. */
function compareFixedPrice(
  challenge: Readonly<Record<string, unknown>>,
  pricing: FixedPricing,
  { chain, payTo }: RegisteredResource["paymentConfig"],
  asked: Pick<Terms, "chain" | "asset" | "digits">,
): readonly Difference[] {
  const price = readAmount(pricing.amount, asked.digits);
  if (!price.ok || asked.asset.asset !== pricing.asset || asked.chain !== chain) return [];
  return compareFixed(challenge, { asset: asked.asset, amount: price.amount, payTo });
}
