import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  json,
  pgTable,
  pgView,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { amountCheck, atomic, createdAt, hashBytes, moment } from "#lib/db/columns.ts";

/** The parts of intents that many payments share, as JSON (stored-intent.ts). Append-only. */
export const paymentTerms = pgTable("payment_terms", {
  /** The SHA-256 hash of `terms`, in base64url. */
  termsId: text("terms_id").primaryKey(),
  terms: text("terms").notNull(),
});

/**
 * Intent, decision, authorization, stored reply and audit event of one request: created together and never changed, so they share a row
 * (ADR 0002, ADR 0032). The ids of the decision, the reservation, the event and the hold's ledger entry are the row's id under their
 * prefixes. The views audit_events, mandate_ledger and reservations contain these rows.
 */
export const authorizations = pgTable(
  "authorizations",
  {
    authorizationId: text("authorization_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    mandateId: text("mandate_id").notNull(),
    policyVersion: integer("policy_version").notNull(),
    subjectId: text("subject_id").notNull(),
    intentId: text("intent_id").notNull(),
    nonce: text("nonce").notNull(),
    outcome: text("outcome").notNull(),
    denialCode: text("denial_code"),
    /**
     * The members of the contract's PaymentIntent at the decision that are neither terms nor columns, as JSON. It is a text column, because
     * PostgreSQL would parse a json value to validate it.
     */
    intent: text("intent").notNull(),
    termsId: text("terms_id").notNull(),
    /** The hash of the organization, environment, operation and idempotency key. A retry finds its stored answer by it. */
    slot: text("slot").notNull(),
    /** The hash of the request. A request with the same key and another hash is refused. */
    fingerprint: text("fingerprint").notNull(),
    /** The findings of the decision as JSON text (Findings). With the columns, they give the reply that a retry receives: answerOf. */
    findings: text("findings").notNull(),
    amount: atomic("amount").notNull(),
    buyerShare: atomic("buyer_share").notNull(),
    sellerShare: atomic("seller_share").notNull(),
    asset: text("asset").notNull(),
    chain: text("chain").notNull(),
    payTo: text("pay_to"),
    sellerId: text("seller_id"),
    sellerOrganizationId: text("seller_organization_id"),
    resourceId: text("resource_id"),
    settlementMode: text("settlement_mode").notNull(),
    facilitatorUrl: text("facilitator_url"),
    maxTimeoutSeconds: integer("max_timeout_seconds").notNull(),
    feeScheduleId: text("fee_schedule_id"),
    /** Whether the decision took a hold. */
    held: boolean("held").notNull(),
    /** The buckets that contain the hold at the decision, as JSON text like the column of changed_reservations. Null without a hold. */
    buckets: text("buckets"),
    /** The checkout that asks a person about this payment; null if the policy asks none. */
    checkoutIntentId: text("checkout_intent_id"),
    /** The service account or person that made the request; null if it is the subject itself. */
    actorId: text("actor_id"),
    requestId: text("request_id").notNull(),
    /** The place of the row's event in the organization's audit chain, from 1. */
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    /** The leaf hash of the event. */
    hash: hashBytes("hash").notNull(),
    /** The stored node of the hash tree, as in audit_entries. */
    node: hashBytes("node"),
    expiresAt: moment("expires_at").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("authorizations_slot").on(table.slot),
    // The index is on one expression. With two columns, an old query plan could use only the first one and scan all authorizations of a
    // mandate.
    uniqueIndex("authorizations_intent_once")
      .on(sql`(mandate_id || ' ' || intent_id)`)
      .where(sql`outcome <> 'deny'`),
    uniqueIndex("authorizations_nonce_once")
      .on(sql`(mandate_id || ' ' || nonce)`)
      .where(sql`outcome <> 'deny'`),
    uniqueIndex("authorizations_of_chain").on(table.organizationId, table.sequence),
    index("authorizations_of_organization").on(table.organizationId, table.authorizationId),
    index("authorizations_of_mandate").on(table.mandateId, table.authorizationId),
    // For the page that lists denied payments and payments that need an approval. The index leaves out allowed payments, which are most, so
    // they cost nothing.
    index("authorizations_not_allowed")
      .on(table.organizationId, table.outcome, table.authorizationId)
      .where(sql`outcome <> 'allow'`),
    // For the sweep of expired holds. Rows before the swept time are never read again (hold_sweeps).
    index("authorizations_due")
      .on(table.expiresAt)
      .where(sql`held`),
    check("authorizations_sequence", sql`sequence > 0`),
    check("authorizations_hold", sql`held = (buckets IS NOT NULL)`),
    amountCheck("authorizations_amount", "amount"),
    amountCheck("authorizations_buyer_share", "buyer_share"),
    amountCheck("authorizations_seller_share", "seller_share"),
  ],
);

const reservationColumns = {
  authorizationId: text("authorization_id").notNull(),
  organizationId: text("organization_id").notNull(),
  mandateId: text("mandate_id").notNull(),
  status: text("status").notNull(),
  amount: atomic("amount").notNull(),
  /** Names the question while a person is asked: seller, resource and amount, or basket and amount. Otherwise null. */
  approvalKey: text("approval_key"),
  /** The buckets that contain the hold, [windowKey, start in ms]. A capture or release updates the same buckets. */
  buckets: json("buckets").$type<readonly (readonly [windowKey: string, start: number])[]>().notNull(),
  expiresAt: moment("expires_at").notNull(),
  createdAt: createdAt(),
  resolvedAt: moment("resolved_at"),
};

/**
 * The holds that changed since their authorization, and the holds of questions and purchases, which are stored at once. The first change
 * of any other hold inserts its row. The status is held, then submitted, captured, released or expired. A payment that settles after its
 * hold was released or expired still makes it captured.
 */
export const changedReservations = pgTable("changed_reservations", reservationColumns, (table) => [
  primaryKey({ columns: [table.authorizationId] }),
  index("changed_reservations_open")
    .on(table.mandateId, table.approvalKey)
    .where(sql`status = 'held' AND approval_key IS NOT NULL`),
  // For the sweep of expired holds. The condition on resolved_at keeps other queries off this index: a plan that was made on an empty
  // table could otherwise scan it to find open approvals.
  index("changed_reservations_due")
    .on(table.expiresAt)
    .where(sql`status = 'held' AND resolved_at IS NULL`),
  check("changed_reservations_amount", sql`amount > 0 AND amount < 'NaN'`),
]);

/**
 * A view: all holds on the budgets of mandates. A hold without a changed row is held as its authorization says. Filter it by constant
 * ids only: PostgreSQL reads all authorizations to join it. A query that has the authorization joins changed_reservations instead.
 */
export const reservations = pgView("reservations", reservationColumns).existing();

/** The time before which the sweep has released every expired hold. One row. */
export const holdSweeps = pgTable("hold_sweeps", {
  name: text("name").primaryKey(),
  sweptUntil: moment("swept_until").notNull(),
});

/** The attempts to pay an authorization. The reconciler works on the rows that have a next_check_at. */
export const executions = pgTable(
  "executions",
  {
    executionId: text("execution_id").primaryKey(),
    authorizationId: text("authorization_id").notNull(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    mandateId: text("mandate_id").notNull(),
    subjectId: text("subject_id").notNull(),
    settlementMode: text("settlement_mode").notNull(),
    settlementStatus: text("settlement_status").notNull(),
    facilitatorUrl: text("facilitator_url"),
    credentialHash: text("credential_hash"),
    /** The signed payload, kept until the outcome is final. The reconciler sends this payload again, never a new one. */
    credential: json("credential"),
    payer: text("payer"),
    tokenAddress: text("token_address"),
    nonce: text("nonce"),
    validBefore: moment("valid_before"),
    credentialHeaders: json("credential_headers").$type<Record<string, string>>(),
    settlementReference: text("settlement_reference"),
    /**
     * The organization that is paid. This field and the next five are copied when the payment is submitted, because a seller's pages must
     * not read a buyer's authorization.
     */
    sellerOrganizationId: text("seller_organization_id"),
    sellerId: text("seller_id"),
    resourceId: text("resource_id"),
    amount: atomic("amount"),
    asset: text("asset"),
    chain: text("chain"),
    failureCode: text("failure_code"),
    failureDetail: text("failure_detail"),
    failureMetadata: json("failure_metadata"),
    /** The newest block when the credential was accepted. The settlement cannot be in an earlier block. */
    fromBlock: bigint("from_block", { mode: "bigint" }),
    /**
     * The slot of the idempotency key of executePayment. If the process died before it stored a reply, a retry finds the execution by this
     * slot.
     */
    slot: text("slot"),
    fingerprint: text("fingerprint"),
    /** Whether /settle has answered success for this payment to the seller. It answers success once. */
    handedOver: boolean("handed_over").notNull().default(false),
    attempts: integer("attempts").notNull().default(0),
    nextCheckAt: moment("next_check_at"),
    createdAt: createdAt(),
    resolvedAt: moment("resolved_at"),
  },
  (table) => [
    uniqueIndex("executions_one_live")
      .on(table.authorizationId)
      .where(sql`settlement_status IN ('pending', 'processing', 'unknown', 'settled')`),
    index("executions_due")
      .on(table.nextCheckAt)
      .where(sql`next_check_at IS NOT NULL`),
    uniqueIndex("executions_slot").on(table.slot),
    index("executions_of_credential").on(table.payer, table.nonce),
    index("executions_of_authorization").on(table.authorizationId, table.executionId),
    index("executions_of_organization").on(table.organizationId, table.executionId),
    index("executions_of_status").on(table.organizationId, table.settlementStatus, table.authorizationId),
    index("executions_of_reference")
      .on(table.settlementReference)
      .where(sql`settlement_reference IS NOT NULL`),
    index("executions_received")
      .on(table.sellerOrganizationId, table.executionId)
      .where(sql`seller_organization_id IS NOT NULL`),
    index("executions_revenue")
      .on(table.sellerOrganizationId, table.resolvedAt)
      .where(sql`seller_organization_id IS NOT NULL AND settlement_status = 'settled'`),
  ],
);

/** Binds each credential's nonce permanently to one authorization. The nonce of a nonce slot is bound to its registration. */
export const credentialClaims = pgTable(
  "credential_claims",
  {
    chain: text("chain").notNull(),
    tokenAddress: text("token_address").notNull(),
    payer: text("payer").notNull(),
    nonce: text("nonce").notNull(),
    authorizationId: text("authorization_id").notNull(),
    organizationId: text("organization_id").notNull(),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.chain, table.tokenAddress, table.payer, table.nonce] })],
);
