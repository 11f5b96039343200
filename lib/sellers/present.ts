import type { Database, Tx } from "#lib/db/client.ts";
import { provenAmong } from "#lib/sellers/pay-to-store.ts";
import type { ListedResource, PaidResource, Seller } from "#lib/sellers/resource-schema.ts";
import type { SellerRow } from "#lib/sellers/store.ts";
import type { ResourceRow } from "#lib/sellers/resource-store.ts";
import { AssuranceLevel, PaymentChallengeType } from "#lib/vocabulary.ts";

export const presentSeller = (row: SellerRow): Seller => ({
  sellerId: row.sellerId,
  name: row.name,
  domain: row.domain,
  verified: row.verified,
  minimumAssuranceLevel: AssuranceLevel.parse(row.minimumAssuranceLevel),
});

export async function presentListed(
  db: Database | Tx,
  organizationId: string,
  rows: readonly ResourceRow[],
): Promise<ListedResource[]> {
  const paid = rows.flatMap(({ paymentConfig }) => paymentConfig ?? []);
  const isProven = await provenAmong(db, organizationId, paid);
  return rows.map((row) => ({
    ...presentResource(row),
    ...(row.paymentConfig !== null && { payToProven: isProven(row.paymentConfig) }),
  }));
}

export const presentResource = (row: ResourceRow): PaidResource => ({
  resourceId: row.resourceId,
  sellerId: row.sellerId,
  method: row.method,
  pathTemplate: row.pathTemplate,
  ...(row.description !== null && { description: row.description }),
  pricing: row.pricing,
  configurationSource: row.configurationSource,
  acceptedPaymentChallengeTypes: row.acceptedPaymentChallengeTypes.map((type) => PaymentChallengeType.parse(type)),
  minimumAssuranceLevel: AssuranceLevel.parse(row.minimumAssuranceLevel),
  ...(row.paymentConfig !== null && { paymentConfig: row.paymentConfig }),
});
