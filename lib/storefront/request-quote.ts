import { createHash } from "node:crypto";
import { canonicalJson } from "#lib/canonical-json.ts";
import { formatAmount } from "#lib/money.ts";
import { invalidField } from "#lib/problem.ts";
import { refuseAmbiguous, resolveItems } from "#lib/storefront/catalog.ts";
import { guardedFetch } from "#lib/outbound/guarded-fetch.ts";
import type { Storefront, OpenChallenge } from "#lib/storefront/discover-storefront.ts";
import { readQuote, type AskedItem, type Quote } from "#lib/storefront/read-quote.ts";
import { problemOfRefusal } from "#lib/storefront/refusal.ts";
import { SellerText } from "#lib/storefront/seller-text.ts";
import { storefrontInvalid } from "#lib/outbound/storefront-problem.ts";

/** The quote of a plain x402 API, which sells one thing. */
function quoteOfChallenge(
  { asset, checkoutUrl, domain }: Storefront,
  { required, terms }: OpenChallenge,
  items: readonly AskedItem[],
  now: Date,
): Quote {
  const [only, another] = items;
  if (another || (only?.quantity ?? 1) !== 1) throw invalidField("/items", "This storefront sells one thing per order.");
  if (terms.amount === 0n) throw storefrontInvalid(`${domain} asks for a payment of zero.`);
  const amount = formatAmount(terms.amount, asset.tokenDecimals);
  const { pathname } = new URL(checkoutUrl);
  const name = SellerText(200).parse((required.resource?.description ?? "").slice(0, 800)) || pathname.slice(0, 200);
  const hash = createHash("sha256").update(canonicalJson(required)).digest("hex");
  return {
    quoteId: `x402_${hash.slice(0, 32)}`,
    amount: terms.amount,
    asset,
    lines: [{ productId: pathname.slice(0, 128), name, quantity: 1, unitAmount: amount, totalAmount: amount }],
    expiresAt: new Date(now.getTime() + terms.maxTimeoutSeconds * 1_000),
    quoteHash: hash,
  };
}

/** Sends no request for a plain x402 API, because discovery has already received its 402. */
export async function requestQuote(
  storefront: Storefront,
  items: readonly AskedItem[],
  { buyerReference, now = new Date() }: { readonly buyerReference?: string; readonly now?: Date } = {},
): Promise<Quote> {
  const { quoteUrl, challenge, domain } = storefront;
  if (quoteUrl === null) {
    if (!challenge) throw storefrontInvalid(`${domain} has nothing to quote from.`);
    return quoteOfChallenge(storefront, challenge, items, now);
  }
  const resolved = await resolveItems(storefront, items);
  const asked = resolved.map(({ productId, variantId, query, color, size, quantity }) => ({
    ...(productId !== undefined && { productId }),
    ...(variantId !== undefined && { variantId }),
    ...(query !== undefined && productId === undefined && { query }),
    ...(color !== undefined && { color }),
    ...(size !== undefined && { size }),
    quantity: quantity ?? 1,
  }));
  const json = { items: asked, ...(buyerReference !== undefined && { buyerReference }) };
  const reply = await guardedFetch(quoteUrl, { method: "POST", json });
  if (reply.status !== 200 && reply.status !== 201) throw problemOfRefusal(domain, reply.status, reply.json);
  const read = readQuote(reply.json, { ...storefront, items: asked });
  if (read.ok) return read.quote;
  const [first] = read.errors;
  if (first?.pointer === "/items" && read.errors.length === 1 && asked.some((item) => item.productId === undefined))
    throw refuseAmbiguous("/items", []);
  throw storefrontInvalid(`The quote of ${domain} cannot be used.`, { errors: read.errors });
}
