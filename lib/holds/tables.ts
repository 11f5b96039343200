import { sql, type SQL } from "drizzle-orm";
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

/** Two expressions for a unique index: 128 bits of hashes of a mandate's id together with an intent's id or nonce. */
const onceKey = (mandateId: SQL, name: SQL): [SQL, SQL] => {
  const half = (seed: number) => sql`hashtextextended(${mandateId} || ' ' || ${name}, ${sql.raw(String(seed))})`;
  return [half(0), half(1)];
};

/** The parts of payment intents that many payments share, as JSON (see stored-intent.ts). Rows are never changed or deleted. */
export const paymentTerms = pgTable("payment_terms", {
  /** The first 22 characters (132 bits) of the SHA-256 hash of `terms`, in base64url. */
  termsId: text("terms_id").primaryKey(),
  terms: text("terms").notNull(),
});

/**
 * One row holds the intent, the decision and the audit event of one request and the data of its reply, because they are created
 * together and never change (ADR 0002, ADR 0032). The views audit_events, mandate_ledger and reservations read these rows too.
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
    /** The rest of the intent (see stored-intent.ts), as text, because PostgreSQL would parse a json value to validate it. */
    intent: text("intent").notNull(),
    termsId: text("terms_id").notNull(),
    /**
     * The hash of organization, environment, operation and idempotency key, by which a retry finds the stored answer. For an
     * order or an approval it is "also " and the row's id, because the reply is stored elsewhere.
     */
    slot: text("slot").notNull(),
    /** A hash of the request, by which a different request with the same idempotency key is refused. */
    fingerprint: text("fingerprint").notNull(),
    /** The reasons of the decision in a short form, as JSON; render-answer.ts writes the reply for a retry from them. */
    findings: text("findings").notNull(),
    amount: atomic("amount").notNull(),
    buyerShare: atomic("buyer_share").notNull(),
    sellerShare: atomic("seller_share").notNull(),
    /** With a unit: what the amount and the buyer's share count as in the mandate's budget, with UNIT_DECIMALS. */
    unitAmount: atomic("unit_amount"),
    /** With a unit: what one whole asset counted as, such as "1.12 USD". */
    unitRate: text("unit_rate"),
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
    /** Whether the decision made a hold: it reserved the amount and the buyer's share of the fee in the mandate's budget. */
    held: boolean("held").notNull(),
    /** The usage buckets (sums for time windows) that contain the reserved amount, as JSON. Null if no amount is reserved. */
    buckets: text("buckets"),
    /** The checkout in which a person is asked about this payment; null if nobody is asked. */
    checkoutIntentId: text("checkout_intent_id"),
    /** The service account or person that sent the request; null if it is the subject itself. */
    actorId: text("actor_id"),
    requestId: text("request_id").notNull(),
    /** The number of the event in the organization's audit log, from 1. */
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    /** The hash of the event as a leaf in the Merkle tree of the audit log. */
    hash: hashBytes("hash").notNull(),
    /** The root of the largest complete subtree whose last leaf is this event; null if that subtree is only the leaf. */
    node: hashBytes("node"),
    expiresAt: moment("expires_at").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("authorizations_slot").on(table.slot),
    // The next two indexes contain hashes, because the texts are longer; a query compares the texts too. The mandate is not a
    // column of its own, because with an old query plan PostgreSQL could scan all authorizations of a mandate.
    uniqueIndex("authorizations_intent_once")
      .on(...onceKey(sql`mandate_id`, sql`intent_id`))
      .where(sql`outcome <> 'deny'`),
    uniqueIndex("authorizations_nonce_once")
      .on(...onceKey(sql`mandate_id`, sql`nonce`))
      .where(sql`outcome <> 'deny'`),
    uniqueIndex("authorizations_of_chain").on(table.organizationId, table.sequence),
    index("authorizations_of_organization").on(table.organizationId, table.authorizationId),
    index("authorizations_of_mandate").on(table.mandateId, table.authorizationId),
    // For the page of denied payments and payments that need an approval. Allowed payments cost nothing here.
    index("authorizations_not_allowed")
      .on(table.organizationId, table.outcome, table.authorizationId)
      .where(sql`outcome <> 'allow'`),
    // For the worker that releases expired holds. A BRIN index has few entries for each range of pages, so an insert is cheap.
    index("authorizations_due")
      .using("brin", table.expiresAt.op("timestamptz_minmax_multi_ops"))
      .with({ pages_per_range: 32, autosummarize: true })
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
  /** Identifies the payment while it is held and a person is asked, so that nobody is asked twice. */
  approvalKey: text("approval_key"),
  /** The usage buckets (sums for time windows) that contain the amount. A capture or release changes the same buckets. */
  buckets: json("buckets").$type<readonly (readonly [windowKey: string, startMs: number])[]>().notNull(),
  expiresAt: moment("expires_at").notNull(),
  createdAt: createdAt(),
  resolvedAt: moment("resolved_at"),
  /** The parts of `amount` so far. Null in all three: the status tells them. Not null in a hold that no clock ends. */
  captured: atomic("captured"),
  released: atomic("released"),
  refunded: atomic("refunded"),
};

/** Something is open exactly while the status says so. NaN counts as larger than every number. */
const SUMS = `num_nulls(captured, released, refunded) = 3 OR coalesce(captured >= 0 AND released >= 0 AND refunded BETWEEN 0 AND captured
  AND captured + released <= amount AND (captured + released < amount) = (status IN ('held', 'submitted')), false)`;

/**
 * The holds (reserved amounts) that changed, wait for a person, or were made for an order or an approval. If a payment settles
 * after its hold was released or expired, the status becomes `captured`.
 */
export const changedReservations = pgTable("changed_reservations", reservationColumns, (table) => [
  primaryKey({ columns: [table.authorizationId] }),
  index("changed_reservations_open")
    .on(table.mandateId, table.approvalKey)
    .where(sql`status = 'held' AND approval_key IS NOT NULL`),
  // Without the condition on resolved_at, a query for open approvals that was planned for an empty table could scan this index.
  index("changed_reservations_due")
    .on(table.expiresAt)
    .where(sql`status = 'held' AND resolved_at IS NULL`),
  uniqueIndex("changed_reservations_of_mandate").on(table.authorizationId, table.mandateId),
  check("changed_reservations_amount", sql`amount > 0 AND amount < 'NaN'`),
  check("changed_reservations_sums", sql.raw(SUMS)),
]);

/**
 * For a hold without a row in changed_reservations, the view shows what the authorization says. Filter it only by constant ids,
 * because PostgreSQL otherwise reads all authorizations; a query that has the authorization joins changed_reservations.
 */
export const reservations = pgView("reservations", reservationColumns).existing();

/** One row with the time up to which a worker has released all expired holds (reserved amounts). */
export const holdSweeps = pgTable("hold_sweeps", {
  name: text("name").primaryKey(),
  sweptUntil: moment("swept_until").notNull(),
});

/** The attempts to pay an authorization. A worker asks the chain about the rows that have a next_check_at. */
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
    /** Kept until the outcome is final: only this payment is sent again, never a new one, because two could both be paid. */
    credential: json("credential"),
    payer: text("payer"),
    tokenAddress: text("token_address"),
    nonce: text("nonce"),
    validBefore: moment("valid_before"),
    credentialHeaders: json("credential_headers").$type<Record<string, string>>(),
    settlementReference: text("settlement_reference"),
    /** This field and the next five are copies, because a seller's pages must not read a buyer's authorization. */
    sellerOrganizationId: text("seller_organization_id"),
    sellerId: text("seller_id"),
    resourceId: text("resource_id"),
    amount: atomic("amount"),
    asset: text("asset"),
    chain: text("chain"),
    failureCode: text("failure_code"),
    failureDetail: text("failure_detail"),
    failureMetadata: json("failure_metadata"),
    /** The settlement is searched from this block, a little before the newest one when the payment was checked (searchFrom). */
    fromBlock: bigint("from_block", { mode: "bigint" }),
    /** By this hash of the idempotency key, a retry finds the execution if no reply was stored. */
    slot: text("slot"),
    fingerprint: text("fingerprint"),
    /** Whether /settle has told the seller of the success, which it does only once, so that the seller delivers once. */
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
    // Without a next check, an open execution would never end.
    check("executions_checked", sql`settlement_status IN ('settled', 'failed') OR next_check_at IS NOT NULL`),
  ],
);

/** Who owns a nonce, forever. `authorizationId` can also be the id of a settlement without a mandate or of a registration. */
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
