import { sql } from "drizzle-orm";
import { boolean, index, json, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { amountCheck, atomic, createdAt, moment, updatedAt } from "#lib/db/columns.ts";
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
    /** When an emergency revocation stopped the seller, which cannot be undone. */
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

/** The key contains the seller, because two sellers may choose the same resourceId. */
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
    /** Null if the resource cannot be paid yet. */
    paymentConfig: json("payment_config").$type<{
      chain: string;
      payTo: string;
      settlementMode: "offchainAuthorized" | "facilitatorSettled";
      facilitatorUrl?: string | undefined;
      maxTimeoutSeconds: number;
    }>(),
    /** In lower case, because the facilitator's endpoints look up resources by this address. */
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

/** Offers that this service received in the 402 of a domain, which prove that the domain asks for payments to the address. */
export const seenOffers = pgTable(
  "seen_offers",
  {
    domain: text("domain").notNull(),
    /** In lower case, like the token's address. */
    payTo: text("pay_to").notNull(),
    chain: text("chain").notNull(),
    tokenAddress: text("token_address").notNull(),
    amount: atomic("amount").notNull(),
    url: text("url").notNull(),
    seenAt: moment("seen_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.domain, table.payTo, table.chain, table.tokenAddress, table.amount] }),
    index("seen_offers_newest").on(table.domain, table.seenAt),
    index("seen_offers_old").on(table.seenAt),
    amountCheck("seen_offers_amount", "amount"),
  ],
);

/** `chain` is empty if the address's key signed, because the key is the same on every chain. */
export const payToProofs = pgTable(
  "pay_to_proofs",
  {
    organizationId: text("organization_id").notNull(),
    /** In lower case. */
    address: text("address").notNull(),
    chain: text("chain").notNull(),
    method: text("method").$type<"signature" | "domain">().notNull(),
    sellerId: text("seller_id").notNull(),
    provenBy: text("proven_by").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.address, table.chain, table.method] }),
    index("pay_to_proofs_of_address").on(table.address),
    index("pay_to_proofs_of_seller").on(table.sellerId),
  ],
);

/** Texts that the owner of an address signs. Each text can be used once. */
export const payToChallenges = pgTable(
  "pay_to_challenges",
  {
    challengeId: text("challenge_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    sellerId: text("seller_id").notNull(),
    address: text("address").notNull(),
    chain: text("chain").notNull(),
    text: text("text").notNull(),
    createdBy: text("created_by").notNull(),
    createdAt: createdAt(),
    expiresAt: moment("expires_at").notNull(),
    usedAt: moment("used_at"),
  },
  (table) => [
    index("pay_to_challenges_of_organization").on(table.organizationId, table.expiresAt),
    index("pay_to_challenges_old").on(table.expiresAt),
  ],
);

/**
 * Payments to these domains and addresses are refused. If `proven` is false, payees with a verified domain can still be
 * paid, and at a stopped address also organizations that have signed for that address.
 */
export const sellerStops = pgTable(
  "seller_stops",
  {
    kind: text("kind").$type<"domain" | "address">().notNull(),
    /** A domain in the form of sellers.domain, or an address in lower case. */
    value: text("value").notNull(),
    sellerId: text("seller_id").notNull(),
    proven: boolean("proven").notNull(),
    subdomains: boolean("subdomains").notNull(),
    /** The last two labels: all domains that the stop includes have the same two, so this column finds them by index. */
    base: text("base").generatedAlwaysAs(sql`split_part(value, '.', -2) || '.' || split_part(value, '.', -1)`),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.value, table.sellerId] }), index("seller_stops_base").on(table.base)],
);
