import type { PaidResource, Seller } from "#lib/sellers/resource-schema.ts";
import type { ResourceRow, SellerRow } from "#lib/sellers/store.ts";
import { AssuranceLevel, PaymentChallengeType } from "#lib/vocabulary.ts";

export const presentSeller = (row: SellerRow): Seller => ({
  sellerId: row.sellerId,
  name: row.name,
  domain: row.domain,
  verified: row.verified,
  minimumAssuranceLevel: AssuranceLevel.parse(row.minimumAssuranceLevel),
});

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
