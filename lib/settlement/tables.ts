import { sql } from "drizzle-orm";
import { bigint, boolean, check, index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { atomic, createdAt, moment } from "#lib/db/columns.ts";

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
    /** SHA-256 of the signature that was settled. Empty in rows from before it was kept: no credential is theirs. */
    signatureHash: text("signature_hash").notNull().default(""),
    validBefore: moment("valid_before").notNull(),
    fromBlock: bigint("from_block", { mode: "bigint" }).notNull(),
    status: text("status").notNull(),
    transaction: text("transaction"),
    errorReason: text("error_reason"),
    /** Whether /settle has said success to the seller: once. */
    handedOver: boolean("handed_over").notNull().default(false),
    /** Whose payment it turned out to be: its execution follows it as well. */
    authorizationId: text("authorization_id"),
    /** Until then a request works on it; afterwards a repeat sends it again. */
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

/**
 * Transactions that our own facilitator signed. One that is sent keeps its bytes and is sent again until the chain has it for good.
 * One that is dropped was in no block when its call was over, and its nonce is free again.
 */
export const settlementTransactions = pgTable(
  "settlement_transactions",
  {
    transactionId: text("transaction_id").primaryKey(),
    chain: text("chain").notNull(),
    signer: text("signer").notNull(),
    nonce: bigint("nonce", { mode: "number" }).notNull(),
    /** Of what is called: the same call again is the same transaction. */
    callHash: text("call_hash").notNull(),
    to: text("to_address").notNull(),
    data: text("data").notNull(),
    /** After that the call does nothing. Null where it never ends. */
    validBefore: moment("valid_before"),
    gasLimit: bigint("gas_limit", { mode: "bigint" }).notNull(),
    maxFeePerGas: bigint("max_fee_per_gas", { mode: "bigint" }).notNull(),
    maxPriorityFeePerGas: bigint("max_priority_fee_per_gas", { mode: "bigint" }).notNull(),
    rawTransaction: text("raw_transaction"),
    hash: text("hash").notNull(),
    /** Before its fees were raised, or it got another nonce: any of them may be the one that is mined. */
    earlierHashes: text("earlier_hashes")
      .array()
      .notNull()
      .default(sql`'{}'`),
    status: text("status").$type<SettlementTransactionStatus>().notNull(),
    /** Of the block that has it now; null while none has. */
    blockNumber: bigint("block_number", { mode: "bigint" }),
    /** Since when no block has it. */
    waitingSince: moment("waiting_since")
      .notNull()
      .default(sql`clock_timestamp()`),
    /** When the newest bytes were signed. */
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
