import { sql } from "drizzle-orm";
import { bigint, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { atomic, createdAt, moment } from "#lib/db/columns.ts";

/** Transactions that our facilitator broadcast and has not seen mined: a repeat follows them and broadcasts nothing. */
export const pendingSettlements = pgTable("pending_settlements", {
  /** SHA-256 of the signature. */
  key: text("key").primaryKey(),
  transaction: text("transaction").notNull(),
  createdAt: createdAt(),
});

/** Payments without a mandate that a seller settled through our facilitator. */
export const plainSettlements = pgTable(
  "plain_settlements",
  {
    settlementId: text("settlement_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    serviceAccountId: text("service_account_id").notNull(),
    chain: text("chain").notNull(),
    tokenAddress: text("token_address").notNull(),
    payer: text("payer").notNull(),
    nonce: text("nonce").notNull(),
    payTo: text("pay_to").notNull(),
    amount: atomic("amount").notNull(),
    /** The one resource of the organization that this pays for; null where several could be meant. */
    sellerId: text("seller_id"),
    resourceId: text("resource_id"),
    credentialHash: text("credential_hash").notNull(),
    validBefore: moment("valid_before").notNull(),
    fromBlock: bigint("from_block", { mode: "bigint" }).notNull(),
    status: text("status").notNull(),
    transaction: text("transaction"),
    errorReason: text("error_reason"),
    createdAt: createdAt(),
    resolvedAt: moment("resolved_at"),
  },
  (table) => [
    uniqueIndex("plain_settlements_nonce").on(table.chain, table.tokenAddress, table.payer, table.nonce),
    index("plain_settlements_open")
      .on(table.createdAt)
      .where(sql`status = 'processing'`),
    index("plain_settlements_of_organization").on(table.organizationId, table.settlementId),
    index("plain_settlements_revenue")
      .on(table.organizationId, table.resolvedAt)
      .where(sql`status = 'settled'`),
  ],
);

/** How often an organization had us spend gas on a UTC day. */
export const settlementDays = pgTable(
  "settlement_days",
  {
    organizationId: text("organization_id").notNull(),
    day: text("day").notNull(),
    settlements: integer("settlements").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.day] })],
);
