import type { PaymentRequired } from "@x402/core/types";
import { basketHash, canonicalBasket, lineAmount, type CanonicalBasket } from "#lib/approvals/basket.ts";
import type { CheckoutRow } from "#lib/approvals/checkout-rows.ts";
import { database } from "#lib/db/client.ts";
import { lower } from "#lib/evm.ts";
import { formatAmount, parseAmount, type Atomic } from "#lib/money.ts";
import { rememberProbed } from "#lib/payments/probe-domain.ts";
import { sellerOfStorefront } from "#lib/storefront/seller-of-storefront.ts";
import { probeCheckout } from "#lib/storefront/probe-checkout.ts";
import { compareChallenge, type Mismatch } from "#lib/x402/compare-challenge.ts";
import { discoverStorefront, type Storefront } from "#lib/storefront/discover-storefront.ts";
import { requestQuote } from "#lib/storefront/request-quote.ts";
import type { AskedItem, QuoteLine } from "#lib/storefront/read-quote.ts";
import type { Environment } from "#lib/vocabulary.ts";

type OfferSeller = {
  readonly sellerId: string;
  readonly name: string;
  readonly verified: boolean;
  readonly minimumAssuranceLevel: string;
};

/** A storefront's offer for a basket. The order stores the whole offer as JSON. */
export type Offer = {
  readonly storefront: Storefront;
  /** Null if sellerOfStorefront finds no registered seller for the storefront. */
  readonly seller: OfferSeller | null;
  readonly resourceId: string | null;
  readonly quote: {
    readonly quoteId: string;
    /** Decimal text as formatAmount writes it. */
    readonly amount: string;
    readonly lines: readonly QuoteLine[];
    readonly expiresAt: string;
  };
  readonly basket: CanonicalBasket;
  readonly basketHash: string;
  /** The storefront's 402 response; of the ways to pay that it lists, only the one that fits the quote best is kept. */
  readonly challenge: PaymentRequired;
  /** The idempotencyKey in every POST to the storefront's checkout, without and with the signed payment. */
  readonly checkoutKey: string;
  /** The fields in which the 402 response differs from the quote, from `storefront` or from the configured token. */
  readonly mismatches: readonly Mismatch[];
};

export const amountOf = ({ quote, storefront }: Offer): Atomic => parseAmount(quote.amount, storefront.asset.tokenDecimals);

/** Waits for the network, so call it outside of transactions. @throws Problem, for example storefront_unavailable */
export async function findOffer(
  storefrontUrl: string,
  items: readonly AskedItem[],
  environment: Environment,
  checkoutKey: string,
): Promise<Offer> {
  const storefront = await discoverStorefront(storefrontUrl);
  const quote = await requestQuote(storefront, items);
  const probed = await probeCheckout(storefront, quote, checkoutKey);
  const { raw, accepted, mismatches } = probed;
  await rememberProbed(probed);
  const { seller, resource } = await sellerOfStorefront(database(), environment, storefront);
  const basket = canonicalBasket(seller?.sellerId ?? storefront.domain, storefront.asset, quote.lines);
  return {
    // The parsed 402 response has bigint amounts, which JSON cannot contain; `challenge` below stores the response.
    storefront: { ...storefront, challenge: null },
    seller: seller && {
      sellerId: seller.sellerId,
      name: seller.name,
      verified: seller.verified,
      minimumAssuranceLevel: seller.minimumAssuranceLevel,
    },
    resourceId: resource?.resourceId ?? null,
    quote: {
      quoteId: quote.quoteId,
      amount: formatAmount(quote.amount, storefront.asset.tokenDecimals),
      lines: quote.lines,
      expiresAt: quote.expiresAt.toISOString(),
    },
    basket,
    basketHash: basketHash(basket),
    challenge: { ...raw, accepts: [accepted] },
    checkoutKey,
    mismatches,
  };
}

/** Null if authorizePayment opened the checkout (it has no storefront), or if its 402 response has no usable way to pay. */
export function offerOfCheckout(row: CheckoutRow, seller: OfferSeller | null): Offer | null {
  const { challenge, quoteId, quoteExpiresAt, amount, payTo, canonicalBasket: basket, tokenDecimals } = row;
  const storefront = row.storefront as Storefront | null;
  if (!storefront || !challenge || quoteId === null || quoteExpiresAt === null) return null;
  const required = challenge as unknown as PaymentRequired;
  const { asset, checkoutUrl: url } = storefront;
  const { accepted, mismatches } = compareChallenge(required, {
    asset,
    amount,
    payTo: lower(payTo),
    url,
  });
  if (!accepted) return null;
  const lines = basket.lines.map(({ displayUnitAmount: _display, asset: _asset, ...line }) => ({
    ...line,
    totalAmount: formatAmount(lineAmount(line, tokenDecimals), tokenDecimals),
  }));
  return {
    storefront,
    seller,
    resourceId: row.resourceId,
    quote: { quoteId, amount: formatAmount(amount, tokenDecimals), lines, expiresAt: quoteExpiresAt.toISOString() },
    basket,
    basketHash: row.basketHash,
    challenge: { ...required, accepts: [accepted] },
    checkoutKey: row.checkoutIntentId,
    mismatches,
  };
}
