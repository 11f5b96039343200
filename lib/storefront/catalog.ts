import { z } from "zod";
import { commonActions } from "#lib/next-actions.ts";
import { Problem } from "#lib/problem.ts";
import { guardedFetch } from "#lib/outbound/guarded-fetch.ts";
import type { Storefront } from "#lib/storefront/discover-storefront.ts";
import { alike, type AskedItem } from "#lib/storefront/read-quote.ts";
import { findings, SellerId, SellerText } from "#lib/storefront/seller-text.ts";
import { storefrontInvalid, storefrontUnavailable } from "#lib/outbound/storefront-problem.ts";

const CANDIDATES_MAX = 20;

const Catalog = z.object({
  items: z
    .array(
      z.object({
        productId: SellerId,
        variantId: SellerId.optional(),
        name: SellerText(200),
        color: SellerText(60).optional(),
        size: SellerText(60).optional(),
        unitAmount: z.string().max(97).optional(),
        asset: z.string().max(16).optional(),
        available: z.boolean().default(true),
      }),
    )
    .max(1_000),
});
export type Candidate = z.output<typeof Catalog>["items"][number];

const candidatesFor = ({ color, size }: AskedItem, items: readonly Candidate[]): Candidate[] =>
  items.filter((item) => item.available && alike(color, item.color) && alike(size, item.size));

export function refuseAmbiguous(pointer: string, candidates: readonly Readonly<Record<string, unknown>>[]): Problem {
  const shown = candidates.slice(0, CANDIDATES_MAX);
  return new Problem("items_ambiguous", {
    detail: "An item fits several variants. Name one of them by productId and variantId.",
    nextActions: [{ type: "refresh_quote", label: "Name one variant", metadata: { pointer, candidates: shown } }],
  });
}

export const outOfStock = (detail: string): Problem =>
  new Problem("out_of_stock", {
    detail,
    nextActions: [{ type: "refresh_quote", label: "Ask for something else" }, commonActions.otherSeller],
  });

async function lookUp(storefront: Storefront, catalogUrl: string, item: AskedItem, index: number): Promise<AskedItem> {
  const url = new URL(catalogUrl);
  url.searchParams.set("q", item.query ?? "");
  const reply = await guardedFetch(url.href, { cached: true });
  if (reply.status !== 200) throw storefrontUnavailable(`The catalog of ${storefront.domain} answered ${reply.status}.`);
  const parsed = Catalog.safeParse(reply.json);
  if (!parsed.success) {
    throw storefrontInvalid(`The catalog of ${storefront.domain} cannot be used.`, { errors: findings(parsed.error) });
  }
  const candidates = candidatesFor(item, parsed.data.items);
  const [only, another] = candidates;
  if (!only) throw outOfStock(`${storefront.domain} has nothing that fits item ${index + 1}.`);
  if (another) throw refuseAmbiguous(`/items/${index}`, candidates);
  const { productId, variantId } = only;
  return { ...item, productId, ...(variantId !== undefined && { variantId }) };
}

/** Looks up items that have a query and no productId. Without a catalog, all items stay unchanged. */
export function resolveItems(storefront: Storefront, items: readonly AskedItem[]): Promise<AskedItem[]> {
  const { catalogUrl } = storefront;
  return Promise.all(
    items.map((item, index) =>
      item.productId === undefined && item.query !== undefined && catalogUrl !== null
        ? lookUp(storefront, catalogUrl, item, index)
        : Promise.resolve(item),
    ),
  );
}
