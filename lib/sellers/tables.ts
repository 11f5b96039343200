import { sql } from "drizzle-orm";
import { boolean, index, json, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { createdAt, moment, updatedAt } from "#lib/db/columns.ts";
import type { Pricing } from "#lib/sellers/resource-schema.ts";

export const sellers = pgTable(
  "sellers",
  {
    sellerId: text("seller_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    name: text("name").notNull(),
    domain: text("domain").notNull(),
    verified: boolean("verified").notNull().default(false),
    /** Since when an emergency revocation keeps it from being paid, for good. */
    stoppedAt: moment("stopped_at"),
    minimumAssuranceLevel: text("minimum_assurance_level").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    index("sellers_of_organization").on(table.organizationId, table.sellerId),
    index("sellers_at_domain")
      .on(table.domain, table.sellerId)
      .where(sql`verified OR stopped_at IS NOT NULL`),
    index("sellers_unverified")
      .on(table.sellerId)
      .where(sql`NOT verified AND stopped_at IS NULL`),
  ],
);

/** The key is (sellerId, resourceId): two organizations may choose the same resourceId. */
export const resources = pgTable(
  "resources",
  {
    sellerId: text("seller_id").notNull(),
    resourceId: text("resource_id").notNull(),
    organizationId: text("organization_id").notNull(),
    method: text("method").notNull(),
    pathTemplate: text("path_template").notNull(),
    description: text("description"),
    pricing: json("pricing").$type<Pricing>().notNull(),
    configurationSource: text("configuration_source").notNull(),
    acceptedPaymentChallengeTypes: text("accepted_payment_challenge_types").array().notNull(),
    minimumAssuranceLevel: text("minimum_assurance_level").notNull(),
    /** As in the contract, with chain, settlement mode and time filled in. Null: registered, but not payable yet. */
    paymentConfig: json("payment_config").$type<{
      chain: string;
      payTo: string;
      settlementMode: "offchainAuthorized" | "facilitatorSettled";
      facilitatorUrl?: string | undefined;
      maxTimeoutSeconds: number;
    }>(),
    /** In lower case; the facilitator endpoints ask whose payTo this is. */
    payTo: text("pay_to"),
    archivedAt: moment("archived_at"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    primaryKey({ columns: [table.sellerId, table.resourceId] }),
    index("resources_of_organization").on(table.organizationId, table.createdAt, table.sellerId, table.resourceId),
    index("resources_pay_to").on(table.payTo, table.organizationId),
  ],
);
