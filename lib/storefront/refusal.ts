import { z } from "zod";
import { commonActions } from "#lib/next-actions.ts";
import { Problem } from "#lib/problem.ts";
import { outOfStock, refuseAmbiguous } from "#lib/storefront/catalog.ts";
import { SellerId, SellerText } from "#lib/storefront/seller-text.ts";
import { storefrontInvalid, storefrontUnavailable } from "#lib/outbound/storefront-problem.ts";

const Code = z.string().max(64);
const Refusal = z.object({
  code: Code.optional().catch(undefined),
  messages: z
    .array(z.object({ code: Code.optional().catch(undefined) }))
    .max(20)
    .optional()
    .catch(undefined),
  candidates: z
    .array(
      z.object({
        productId: SellerId,
        variantId: SellerId.optional(),
        name: SellerText(200).optional(),
        color: SellerText(60).optional(),
        size: SellerText(60).optional(),
      }),
    )
    .max(100)
    .optional()
    .catch(undefined),
});

/** The codes are those of UCP (the Universal Commerce Protocol) and of this project's own example servers. */
export function problemOfRefusal(domain: string, status: number, json: unknown): Problem {
  if (status >= 500 || status === 429) return storefrontUnavailable(`${domain} answered ${status}.`);
  const { data } = Refusal.safeParse(json);
  const codes = new Set([data?.code, ...(data?.messages ?? []).map(({ code }) => code)]);
  if (codes.has("items_ambiguous")) return refuseAmbiguous("/items", data?.candidates ?? []);
  if (codes.has("out_of_stock") || codes.has("item_unavailable") || codes.has("not_found"))
    return outOfStock(`${domain} cannot deliver what was asked for.`);
  if (codes.has("quote_expired")) {
    return new Problem("quote_expired", {
      detail: `The quote of ${domain} has expired.`,
      nextActions: [commonActions.refreshQuote],
    });
  }
  if (codes.has("price_changed")) {
    return new Problem("price_changed", {
      detail: `${domain} no longer sells at the quoted price.`,
      nextActions: [commonActions.refreshQuote],
    });
  }
  return storefrontInvalid(`${domain} refused with ${status}.`);
}
