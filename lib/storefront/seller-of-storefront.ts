import type { Database, Tx } from "#lib/db/client.ts";
import { findSeller, findVerifiedSeller, type SellerRow } from "#lib/sellers/store.ts";
import { findPayableResource, type ResourceRow } from "#lib/sellers/resource-store.ts";
import type { Environment } from "#lib/vocabulary.ts";

/** The domain of a seller's server that replied, and the ids that its reply claims. */
type Storefront = { readonly domain: string; readonly sellerId: string | null; readonly resourceId: string | null };

export type StorefrontSeller = { readonly seller: SellerRow | null; readonly resource: ResourceRow | null };

/** Any server can name any seller, so only the server's domain identifies the seller. */
export async function sellerOfStorefront(
  db: Database | Tx,
  environment: Environment,
  { domain, sellerId, resourceId }: Storefront,
): Promise<StorefrontSeller> {
  const named = sellerId === null ? null : await findSeller(db, environment, sellerId);
  const claimed = named?.domain === domain ? named : null;
  const seller = claimed?.verified ? claimed : ((await findVerifiedSeller(db, environment, domain)) ?? claimed);
  const resource = seller && resourceId !== null ? await findPayableResource(db, seller.sellerId, resourceId) : null;
  return { seller, resource };
}
