import { database } from "#lib/db/client.ts";
import { proofOf, type DomainProof } from "#lib/sellers/domain-proof.ts";
import { presentSeller } from "#lib/sellers/present.ts";
import type { Scope } from "#lib/settlement/received-store.ts";
import type { Seller } from "#lib/sellers/resource-schema.ts";
import { listOwnSellers } from "#lib/sellers/store.ts";

export type OwnSeller = Seller & {
  /** The token that proves the seller's domain when it is published, and the places to publish it. */
  readonly proof: DomainProof;
};

export const SELLERS_SHOWN = 200;

export type OwnSellers = {
  readonly sellers: readonly OwnSeller[];
  readonly more: boolean;
};

export async function viewSellers({ organizationId, environment }: Scope): Promise<OwnSellers> {
  const rows = await listOwnSellers(database(), environment, organizationId, SELLERS_SHOWN + 1);
  const shown = rows.slice(0, SELLERS_SHOWN);
  return { sellers: shown.map((row) => ({ ...presentSeller(row), proof: proofOf(row) })), more: rows.length > shown.length };
}
