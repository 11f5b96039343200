import type { Hex } from "viem";
import { sql } from "drizzle-orm";
import { bigint, boolean, check, index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { atomic, createdAt, moment } from "#lib/db/columns.ts";

/** Payments that sellers asked this service's facilitator to settle without a mandate. */
export const plainSettlements = pgTable(
  "plain_settlements",
  {
    settlementId: text("settlement_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    serviceAccountId: text("service_account_id").notNull(),
    chain: text("chain").notNull(),
    tokenAddress: text("token_address").$type<Hex>().notNull(),
    payer: text("payer").$type<Hex>().notNull(),
    nonce: text("nonce").$type<Hex>().notNull(),
    payTo: text("pay_to").$type<Hex>().notNull(),
    amount: atomic("amount").notNull(),
    /** The seller whose resource this settlement pays for; null if no resource or several resources fit. */
    sellerId: text("seller_id"),
    resourceId: text("resource_id"),
    credentialHash: text("credential_hash").notNull(),
    /** SHA-256 of the signature: another signature for the nonce does not get this settlement's answer. The default fits none. */
    signatureHash: text("signature_hash").notNull().default(""),
    validBefore: moment("valid_before").notNull(),
    fromBlock: bigint("from_block", { mode: "bigint" }).notNull(),
    status: text("status").notNull(),
    transaction: text("transaction"),
    errorReason: text("error_reason"),
    /** Whether /settle has decided to answer success, which it does only once. */
    handedOver: boolean("handed_over").notNull().default(false),
    /** The authorization whose execution used the same signed payment later and gets the outcome of this settlement. */
    authorizationId: text("authorization_id"),
    /** Until this time, one request has the lease on this settlement. After that, a repeated request may send it again. */
    workedUntil: moment("worked_until")
      .notNull()
      .default(sql`clock_timestamp()`),
    createdAt: createdAt(),
    resolvedAt: moment("resolved_at"),
  },
  (table) => [
    uniqueIndex("plain_settlements_nonce").on(table.chain, table.tokenAddress, table.payer, table.nonce),
    index("plain_settlements_open")
      .on(table.createdAt)
      .where(sql`status = 'processing'`),
    uniqueIndex("plain_settlements_adopted")
      .on(table.authorizationId)
      .where(sql`authorization_id IS NOT NULL`),
    index("plain_settlements_of_organization").on(table.organizationId, table.settlementId),
    index("plain_settlements_revenue")
      .on(table.organizationId, table.resolvedAt)
      .where(sql`status = 'settled'`),
  ],
);

export type SettlementTransactionStatus = "sent" | "mined" | "dropped";

/** The bytes are kept while the status is sent, to send them again. */
export const settlementTransactions = pgTable(
  "settlement_transactions",
  {
    transactionId: text("transaction_id").primaryKey(),
    chain: text("chain").notNull(),
    signer: text("signer").notNull(),
    nonce: bigint("nonce", { mode: "number" }).notNull(),
    /** The hash of `to` and `data`. On one chain, at most one transaction with the status sent has the same call. */
    callHash: text("call_hash").notNull(),
    to: text("to_address").notNull(),
    data: text("data").notNull(),
    /** After this time the call has no effect. Null if the call does not expire. */
    validBefore: moment("valid_before"),
    gasLimit: bigint("gas_limit", { mode: "bigint" }).notNull(),
    maxFeePerGas: bigint("max_fee_per_gas", { mode: "bigint" }).notNull(),
    maxPriorityFeePerGas: bigint("max_priority_fee_per_gas", { mode: "bigint" }).notNull(),
    rawTransaction: text("raw_transaction"),
    hash: text("hash").notNull(),
    /** The hashes of earlier versions, which had lower fees or another nonce. One of them may have been mined. */
    earlierHashes: text("earlier_hashes")
      .array()
      .notNull()
      .default(sql`'{}'`),
    status: text("status").$type<SettlementTransactionStatus>().notNull(),
    /** The block that contained the transaction at the last check; null if none did. */
    blockNumber: bigint("block_number", { mode: "bigint" }),
    /** If `blockNumber` is null, the time since which no block has contained the transaction. */
    waitingSince: moment("waiting_since")
      .notNull()
      .default(sql`clock_timestamp()`),
    /** The time at which the newest bytes were stored. */
    sentAt: moment("sent_at")
      .notNull()
      .default(sql`clock_timestamp()`),
    nextCheckAt: moment("next_check_at").notNull(),
    createdAt: createdAt(),
    resolvedAt: moment("resolved_at"),
  },
  (table) => [
    uniqueIndex("settlement_transactions_nonce")
      .on(table.chain, table.signer, table.nonce)
      .where(sql`status = 'sent'`),
    uniqueIndex("settlement_transactions_call")
      .on(table.chain, table.callHash)
      .where(sql`status = 'sent'`),
    index("settlement_transactions_due")
      .on(table.chain, table.nextCheckAt)
      .where(sql`status = 'sent'`),
    index("settlement_transactions_resolved")
      .on(table.resolvedAt)
      .where(sql`status <> 'sent'`),
    check("settlement_transactions_status", sql`status IN ('sent', 'mined', 'dropped')`),
    check("settlement_transactions_bytes", sql`(status = 'sent') = (raw_transaction IS NOT NULL)`),
    check("settlement_transactions_ended", sql`(status = 'sent') = (resolved_at IS NULL)`),
  ],
);
