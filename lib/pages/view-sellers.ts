import { database } from "#lib/db/client.ts";
import { proofOf, type DomainProof } from "#lib/sellers/domain-proof.ts";
import { presentSeller } from "#lib/sellers/present.ts";
import type { Scope } from "#lib/settlement/received-store.ts";
import type { Seller } from "#lib/sellers/resource-schema.ts";
import { listOwnSellers } from "#lib/sellers/store.ts";

export type OwnSeller = Seller & {
  /** The proof for its domain. Only the organization itself may see it. */
  readonly proof: DomainProof;
};

/** The sellers of the organization, the oldest first. */
export async function viewSellers({ organizationId, environment }: Scope): Promise<readonly OwnSeller[]> {
  const rows = await listOwnSellers(database(), environment, organizationId);
  return rows.map((row) => ({ ...presentSeller(row), proof: proofOf(row) }));
}
