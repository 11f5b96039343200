import { getAddress } from "viem";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { decodeCursor, page, type Page } from "#lib/http/paging.ts";
import { notFound } from "#lib/problem.ts";
import { presentListed, presentSeller } from "#lib/sellers/present.ts";
import type { Scope } from "#lib/settlement/received-store.ts";
import type { ListedResource, Seller } from "#lib/sellers/resource-schema.ts";
import type { Coin } from "#lib/pages/seller/snippets.ts";
import { findOwnSeller } from "#lib/sellers/store.ts";
import { filterResources, findOwnResource, placeOfResource } from "#lib/sellers/resource-store.ts";

type Query = {
  readonly archived: boolean;
  readonly search?: string | undefined;
  readonly method?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
};

/** `archived` selects archived instead of active resources. @throws Problem invalid_request for an invalid cursor */
export async function viewResources({ organizationId }: Scope, query: Query): Promise<Page<ListedResource>> {
  const { cursor, limit, ...filter } = query;
  const rows = await filterResources(database(), { organizationId, ...filter }, decodeCursor(cursor), limit + 1);
  const { items, ...rest } = page(rows, limit, placeOfResource);
  return { items: await presentListed(database(), organizationId, items), ...rest };
}

export type ResourceView = { readonly resource: ListedResource; readonly seller: Seller; readonly archived: boolean };

/** Finds archived resources too. @throws Problem not_found */
export async function viewResource(scope: Scope, sellerId: string, resourceId: string): Promise<ResourceView> {
  const { organizationId, environment } = scope;
  const resource = await findOwnResource(database(), { organizationId, sellerId, resourceId });
  const seller = resource && (await findOwnSeller(database(), environment, organizationId, sellerId));
  if (!seller) throw notFound("resource");
  const [listed] = await presentListed(database(), organizationId, [resource]);
  return { resource: listed!, seller: presentSeller(seller), archived: resource.archivedAt !== null };
}

export type Installation = {
  readonly coins: readonly Coin[];
  readonly facilitators: readonly string[];
  readonly origin: string;
};

export function viewInstallation(): Installation {
  const { CHAINS, FACILITATORS, BASE_URL } = env();
  return {
    coins: CHAINS.flatMap(({ chain, assets }) =>
      assets.map(({ asset, tokenAddress, ...token }) => ({ ...token, chain, asset, tokenAddress: getAddress(tokenAddress) })),
    ),
    facilitators: (FACILITATORS ?? []).map(({ url }) => url),
    origin: new URL(BASE_URL).origin,
  };
}
