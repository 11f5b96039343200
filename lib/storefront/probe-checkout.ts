import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { challengeOf, headersOfChallenge } from "#lib/x402/challenge-header.ts";
import { compareChallenge, type ChallengeTerms, type Mismatch } from "#lib/x402/compare-challenge.ts";
import { guardedFetch } from "#lib/outbound/guarded-fetch.ts";
import type { Storefront } from "#lib/storefront/discover-storefront.ts";
import type { Quote } from "#lib/storefront/read-quote.ts";
import { problemOfRefusal } from "#lib/storefront/refusal.ts";
import { storefrontInvalid } from "#lib/outbound/storefront-problem.ts";

/** The 402 at the checkout, compared with the quote. If `mismatches` is not empty, nothing may be authorized. */
export type ProbedCheckout = {
  /** By name. The headers contain only the offer `accepted`. */
  readonly paymentRequired: Readonly<Record<string, string>>;
  readonly terms: ChallengeTerms;
  readonly accepted: PaymentRequirements;
  /** The decoded 402, as the seller sent it. */
  readonly raw: PaymentRequired;
  /** The URL that sent the 402, after redirects. */
  readonly answeredAt: string;
  readonly mismatches: readonly Mismatch[];
};

type Order = Pick<Quote, "quoteId" | "amount">;

/** The checkout gets the same body without and with the signed payment. */
export const checkoutBody = ({ quoteId }: Pick<Quote, "quoteId">, idempotencyKey: string) => ({ quoteId, idempotencyKey });

/** @throws Problem storefront_unavailable, storefront_invalid, items_ambiguous, out_of_stock, quote_expired, price_changed */
export async function probeCheckout(storefront: Storefront, quote: Order, idempotencyKey: string): Promise<ProbedCheckout> {
  const { checkoutUrl, checkoutMethod: method, domain, asset, payTo } = storefront;
  const reply = await guardedFetch(checkoutUrl, {
    method,
    ...(method === "POST" && { json: checkoutBody(quote, idempotencyKey) }),
  });
  if (reply.status >= 200 && reply.status < 300) throw storefrontInvalid(`The checkout of ${domain} did not ask for payment.`);
  if (reply.status !== 402) throw problemOfRefusal(domain, reply.status, reply.json);
  const raw = challengeOf(reply);
  const { accepted, terms, mismatches } = compareChallenge(raw, { asset, payTo, amount: quote.amount, url: checkoutUrl });
  if (!accepted || !terms) throw storefrontInvalid(`The checkout of ${domain} takes no payment of scheme exact by EIP-3009.`);
  return { paymentRequired: headersOfChallenge(raw, accepted), terms, accepted, raw, answeredAt: reply.url, mismatches };
}
