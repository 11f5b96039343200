import type { Hex } from "viem";
import { sql } from "drizzle-orm";
import { bigint, check, index, integer, jsonb, pgTable, primaryKey, smallint, text, uniqueIndex } from "drizzle-orm/pg-core";
import { amountCheck, atomic, createdAt, moment } from "#lib/db/columns.ts";

/** An EIP-7702 authorization as it is stored; all its numbers fit into JSON numbers. */
export type StoredAuthorization = {
  readonly address: Hex;
  readonly chainId: number;
  readonly nonce: number;
  readonly yParity: number;
  readonly r: Hex;
  readonly s: Hex;
};

/** The relayer pays gas and has no other power; the guardian can only revoke mandates. */
export type RelayKey = "relayer" | "guardian";
export type LeaseKey = RelayKey | "settlement";
export type RelayPurpose = "registerMandate" | "revokeMandate" | "payMandate";
export type RelayStatus = "queued" | "sent" | "mined" | "reverted" | "abandoned";

/** A sent row has a nonce and signed bytes, and is sent again until the chain has used the nonce. */
export const relayedTransactions = pgTable(
  "relayed_transactions",
  {
    relayId: text("relay_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    mandateId: text("mandate_id").notNull(),
    purpose: text("purpose").$type<RelayPurpose>().notNull(),
    entityId: text("entity_id").notNull(),
    chain: text("chain").notNull(),
    key: text("key").$type<RelayKey>().notNull(),
    to: text("to_address").notNull(),
    data: text("data").notNull(),
    authorizationList: jsonb("authorization_list").$type<readonly StoredAuthorization[]>(),
    gasCap: bigint("gas_cap", { mode: "bigint" }).notNull(),
    status: text("status").$type<RelayStatus>().notNull(),
    signer: text("signer"),
    nonce: bigint("nonce", { mode: "number" }),
    gasLimit: bigint("gas_limit", { mode: "bigint" }),
    maxFeePerGas: bigint("max_fee_per_gas", { mode: "bigint" }),
    maxPriorityFeePerGas: bigint("max_priority_fee_per_gas", { mode: "bigint" }),
    /** The newest signed bytes while `status` is sent, otherwise null. */
    rawTransaction: text("raw_transaction"),
    hash: text("hash"),
    /** The hashes of earlier signed versions, one of which may be mined instead of the newest. */
    earlierHashes: text("earlier_hashes")
      .array()
      .notNull()
      .default(sql`'{}'`),
    /** The number of the lease under which the transaction was last signed. Each new lease has a higher number. */
    fence: bigint("fence", { mode: "number" }),
    /** When the newest bytes were signed. */
    sentAt: moment("sent_at"),
    attempts: integer("attempts").notNull().default(0),
    nextCheckAt: moment("next_check_at")
      .notNull()
      .default(sql`clock_timestamp()`),
    /** A sentence that says that the transaction was reverted, or why it was abandoned or last had to wait. */
    failure: text("failure"),
    gasUsed: bigint("gas_used", { mode: "bigint" }),
    gasPrice: bigint("gas_price", { mode: "bigint" }),
    blockNumber: bigint("block_number", { mode: "bigint" }),
    createdAt: createdAt(),
    resolvedAt: moment("resolved_at"),
  },
  (table) => [
    uniqueIndex("relayed_transactions_once").on(table.purpose, table.entityId),
    uniqueIndex("relayed_transactions_nonce")
      .on(table.chain, table.signer, table.nonce)
      .where(sql`status = 'sent'`),
    index("relayed_transactions_of_signer")
      .on(table.chain, table.signer, table.nonce)
      .where(sql`nonce IS NOT NULL`),
    index("relayed_transactions_due")
      .on(table.chain, table.key, table.nextCheckAt)
      .where(sql`status IN ('queued', 'sent')`),
    index("relayed_transactions_open")
      .on(table.organizationId)
      .where(sql`status IN ('queued', 'sent')`),
    check("relayed_transactions_purpose", sql`purpose IN ('registerMandate', 'revokeMandate', 'payMandate')`),
    check("relayed_transactions_key", sql`key IN ('relayer', 'guardian')`),
    check("relayed_transactions_status", sql`status IN ('queued', 'sent', 'mined', 'reverted', 'abandoned')`),
    check(
      "relayed_transactions_signed",
      sql`CASE WHEN status IN ('queued', 'abandoned') THEN nonce IS NULL AND raw_transaction IS NULL
        ELSE num_nulls(signer, nonce, hash, gas_limit, max_fee_per_gas, sent_at) = 0 END`,
    ),
    check("relayed_transactions_bytes", sql`(status = 'sent') = (raw_transaction IS NOT NULL)`),
    check("relayed_transactions_gas", sql`gas_limit <= gas_cap`),
    check("relayed_transactions_resolved", sql`(status IN ('queued', 'sent')) = (resolved_at IS NULL)`),
  ],
);

/** Until a lease expires, no other holder gets it. `fence` grows with each new holder. */
export const relayLeases = pgTable(
  "relay_leases",
  {
    chain: text("chain").notNull(),
    key: text("key").$type<LeaseKey>().notNull(),
    holder: text("holder").notNull(),
    fence: bigint("fence", { mode: "number" }).notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain, table.key] })],
);

/** Requests to register a mandate on a chain, with the limits that its account signed. Addresses are in lower case. */
export const mandateRegistrations = pgTable(
  "mandate_registrations",
  {
    registrationId: text("registration_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    mandateId: text("mandate_id").notNull(),
    /** The version of the mandate from which the limits for the chain were derived. */
    version: integer("version").notNull(),
    chain: text("chain").notNull(),
    /** The registry contract that the registration was signed for. A registry that is deployed later does not know it. */
    registry: text("registry").notNull(),
    account: text("account").notNull(),
    payee: text("payee").notNull(),
    token: text("token").notNull(),
    /** The mandate's id in the registry: keccak256 of "mandateId:version". */
    onChainId: text("on_chain_id").notNull(),
    perPaymentLimit: atomic("per_payment_limit").notNull(),
    periodLimit: atomic("period_limit").notNull(),
    periodSeconds: bigint("period_seconds", { mode: "number" }).notNull(),
    /** `start` and `end` are in seconds since 1970. */
    start: bigint("start_seconds", { mode: "number" }).notNull(),
    end: bigint("end_seconds", { mode: "number" }).notNull(),
    maxPaymentsPerPeriod: bigint("max_payments_per_period", { mode: "number" }).notNull(),
    /** 1: the mandate pays by proofs. 2: the mandate pays by the payment module. */
    enforcementPath: smallint("enforcement_path").notNull(),
    termsHash: text("terms_hash").notNull(),
    nonce: atomic("nonce").notNull(),
    deadline: bigint("deadline", { mode: "number" }).notNull(),
    /** A hash of the mandate's id and the request's body, by which a repeat of the request is recognized. */
    fingerprint: text("fingerprint").notNull(),
    status: text("status").notNull(),
    failure: text("failure"),
    revocation: text("revocation").notNull().default("none"),
    relayId: text("relay_id").notNull(),
    revokeRelayId: text("revoke_relay_id"),
    txHash: text("tx_hash"),
    nextCheckAt: moment("next_check_at")
      .notNull()
      .default(sql`clock_timestamp()`),
    createdAt: createdAt(),
    confirmedAt: moment("confirmed_at"),
    revokedAt: moment("revoked_at"),
  },
  (table) => [
    uniqueIndex("mandate_registrations_once")
      .on(table.chain, table.account, table.onChainId)
      .where(sql`status <> 'failed'`),
    uniqueIndex("mandate_registrations_nonce").on(table.chain, table.account, table.nonce),
    uniqueIndex("mandate_registrations_relay").on(table.relayId),
    index("mandate_registrations_of_mandate").on(table.mandateId, table.registrationId),
    index("mandate_registrations_open")
      .on(table.nextCheckAt)
      .where(sql`status = 'submitted'`),
    index("mandate_registrations_revoking")
      .on(table.registrationId)
      .where(sql`revocation IN ('requested', 'sent')`),
    amountCheck("mandate_registrations_per_payment_limit", "per_payment_limit"),
    amountCheck("mandate_registrations_period_limit", "period_limit"),
    amountCheck("mandate_registrations_nonce_number", "nonce"),
    check(
      "mandate_registrations_terms",
      sql`per_payment_limit > 0 AND period_seconds > 0 AND start_seconds < end_seconds AND enforcement_path IN (1, 2)
        AND max_payments_per_period BETWEEN 1 AND 4294967295
        AND max_payments_per_period * per_payment_limit <= period_limit`,
    ),
    check("mandate_registrations_status", sql`status IN ('submitted', 'registered', 'failed')`),
    check("mandate_registrations_revocation", sql`revocation IN ('none', 'requested', 'sent', 'revoked')`),
    check("mandate_registrations_confirmed", sql`(status = 'registered') = (confirmed_at IS NOT NULL)`),
    check("mandate_registrations_revoked", sql`(revocation = 'revoked') = (revoked_at IS NOT NULL)`),
  ],
);

/** The numbered payments (slots) of a mandate's periods that authorizations have taken. */
export const registrationSlots = pgTable(
  "registration_slots",
  {
    slotId: text("slot_id").primaryKey(),
    registrationId: text("registration_id").notNull(),
    organizationId: text("organization_id").notNull(),
    authorizationId: text("authorization_id").notNull(),
    period: bigint("period", { mode: "number" }).notNull(),
    slot: bigint("slot", { mode: "number" }).notNull(),
    /** The token's nonce keccak256(onChainId, period, slot), or the payment module's paymentId. */
    nonce: text("nonce").notNull(),
    amount: atomic("amount").notNull(),
    validBefore: moment("valid_before").notNull(),
    /** Only a free slot can be given to another authorization, in a new row. */
    status: text("status").notNull(),
    createdAt: createdAt(),
    resolvedAt: moment("resolved_at"),
  },
  (table) => [
    uniqueIndex("registration_slots_once")
      .on(table.registrationId, table.period, table.slot)
      .where(sql`status <> 'free'`),
    uniqueIndex("registration_slots_of_authorization")
      .on(table.authorizationId)
      .where(sql`status = 'held'`),
    index("registration_slots_of_nonce").on(table.registrationId, table.nonce),
    index("registration_slots_due")
      .on(table.validBefore)
      .where(sql`status = 'held'`),
    check("registration_slots_amount", sql`amount > 0 AND amount < 'NaN'`),
    check("registration_slots_place", sql`period >= 0 AND slot >= 0`),
    check("registration_slots_status", sql`status IN ('held', 'used', 'free')`),
  ],
);

/** The transactions of each UTC day that countSettlement counted. "installation" is the row for all organizations together. */
export const settlementDays = pgTable(
  "settlement_days",
  {
    organizationId: text("organization_id").notNull(),
    day: text("day").notNull(),
    settlements: integer("settlements").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.day] })],
);
