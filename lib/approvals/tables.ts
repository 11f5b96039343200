import { sql } from "drizzle-orm";
import { boolean, check, index, integer, json, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import type { CanonicalBasket } from "#lib/approvals/basket.ts";
import { atomic, createdAt, moment, updatedAt } from "#lib/db/columns.ts";
import type { PaymentIntent } from "#lib/payment-intent.ts";

/** What a buyer is asked to confirm. The terms are fixed when the row is born: another price is another checkout. */
export const checkoutIntents = pgTable(
  "checkout_intents",
  {
    checkoutIntentId: text("checkout_intent_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    /** The agent that asks: only it sees the continuation token. */
    ownerSubjectId: text("owner_subject_id").notNull(),
    sellerId: text("seller_id"),
    resourceId: text("resource_id"),
    /** The seller's host, in ASCII. Whether it is verified is read from the seller's record. */
    domain: text("domain").notNull(),
    storefrontUrl: text("storefront_url").notNull(),
    mandateId: text("mandate_id"),
    detectedMandateId: text("detected_mandate_id"),
    mandateStatus: text("mandate_status").notNull(),
    canonicalBasket: json("canonical_basket").$type<CanonicalBasket>().notNull(),
    basketHash: text("basket_hash").notNull(),
    amount: atomic("amount").notNull(),
    asset: text("asset").notNull(),
    chain: text("chain").notNull(),
    payTo: text("pay_to").notNull(),
    tokenAddress: text("token_address").notNull(),
    tokenDecimals: integer("token_decimals").notNull(),
    quoteId: text("quote_id"),
    quoteExpiresAt: moment("quote_expires_at"),
    /** The seller's PaymentRequired, as it was read. */
    challenge: json("challenge").$type<Record<string, unknown>>(),
    /** What the service charges, for the page. */
    feeQuote: json("fee_quote").$type<PaymentIntent["feeQuote"]>(),
    /** What the agent asked for, and what was found at the storefront: the order goes on from them. */
    items: json("items"),
    storefront: json("storefront"),
    metadata: json("metadata").$type<Record<string, unknown>>(),
    createsFulfillmentOrder: boolean("creates_fulfillment_order").notNull(),
    status: text("status").notNull(),
    /** The authorization that holds the budget: there from the start when its policy asked for a person, else since the approval. */
    authorizationId: text("authorization_id"),
    orderId: text("order_id"),
    expiresAt: moment("expires_at").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    // A soft hold's checkout is unique by its approval key, under the mandate's lock.
    uniqueIndex("checkout_intents_one_open")
      .on(table.organizationId, sql`coalesce(mandate_id, '')`, table.basketHash)
      .where(sql`status IN ('previewed', 'awaiting_approval') AND authorization_id IS NULL`),
    index("checkout_intents_of_organization").on(table.organizationId, table.checkoutIntentId),
    index("checkout_intents_of_authorization").on(table.authorizationId),
    index("checkout_intents_due")
      .on(table.expiresAt)
      .where(sql`status IN ('previewed', 'awaiting_approval')`),
    // What a person has to decide, soonest over first.
    index("checkout_intents_waiting")
      .on(table.organizationId, table.expiresAt)
      .where(sql`status IN ('previewed', 'awaiting_approval')`),
    // A buyer who said no is not asked the same again.
    index("checkout_intents_rejected")
      .on(table.mandateId, table.basketHash)
      .where(sql`status = 'rejected'`),
    check("checkout_intents_amount", sql`amount > 0 AND amount < 'NaN'`),
  ],
);

/** What a session was shown: an approval confirms this and nothing else. */
export const checkoutReviews = pgTable(
  "checkout_reviews",
  {
    sessionId: text("session_id").notNull(),
    checkoutIntentId: text("checkout_intent_id").notNull(),
    basketHash: text("basket_hash").notNull(),
    amount: atomic("amount").notNull(),
    asset: text("asset").notNull(),
    chain: text("chain").notNull(),
    payTo: text("pay_to").notNull(),
    shownAt: moment("shown_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.checkoutIntentId] })],
);

/** A person's decision, one per checkout, with the continuation that it mints. */
export const checkoutApprovals = pgTable(
  "checkout_approvals",
  {
    approvalId: text("approval_id").primaryKey(),
    checkoutIntentId: text("checkout_intent_id").notNull(),
    organizationId: text("organization_id").notNull(),
    status: text("status").notNull(),
    approvedAt: moment("approved_at").notNull(),
    approvedBySubjectId: text("approved_by_subject_id").notNull(),
    /** Of a rejection. */
    reason: text("reason"),
    preselectedMandateId: text("preselected_mandate_id"),
    /** What the continuation is bound to; null in a rejection without a mandate. */
    mandateId: text("mandate_id"),
    agentId: text("agent_id").notNull(),
    approvalSurface: text("approval_surface").notNull(),
    /** How sure the person's identity is: by a session, or by a passkey that signed what was approved. */
    assuranceLevel: text("assurance_level").notNull().default("softwareApproved"),
    approvedBasketHash: text("approved_basket_hash").notNull(),
    approvedAmount: atomic("approved_amount").notNull(),
    approvedAsset: text("approved_asset").notNull(),
    approvedChain: text("approved_chain").notNull(),
    approvedPayTo: text("approved_pay_to").notNull(),
    /** The authorization whose hold it took; shown when the approval is consumed. */
    authorizationId: text("authorization_id"),
    continuationTokenId: text("continuation_token_id"),
    /** SHA-256 of the token; the token itself is derived from its id and never stored. */
    continuationTokenHash: text("continuation_token_hash"),
    continuationTokenStatus: text("continuation_token_status"),
    expiresAt: moment("expires_at").notNull(),
    createdAt: createdAt(),
    resolvedAt: moment("resolved_at"),
  },
  (table) => [
    uniqueIndex("checkout_approvals_one").on(table.checkoutIntentId),
    uniqueIndex("checkout_approvals_token").on(table.continuationTokenHash),
    index("checkout_approvals_of_authorization").on(table.authorizationId),
    index("checkout_approvals_due")
      .on(table.expiresAt)
      .where(sql`status = 'pending'`),
    check("checkout_approvals_amount", sql`approved_amount > 0 AND approved_amount < 'NaN'`),
  ],
);

/** A person proved who he is, for one checkout, in one session, once. */
export const stepUps = pgTable(
  "step_ups",
  {
    stepUpId: text("step_up_id").primaryKey(),
    sessionId: text("session_id").notNull(),
    userId: text("user_id").notNull(),
    checkoutIntentId: text("checkout_intent_id").notNull(),
    method: text("method").notNull(),
    /** The passkey that signed, and what it signed: the step-up is worth nothing for other terms, or once the passkey is removed. */
    passkeyId: text("passkey_id"),
    basketHash: text("basket_hash"),
    amount: atomic("amount"),
    payTo: text("pay_to"),
    expiresAt: moment("expires_at").notNull(),
    usedAt: moment("used_at"),
    createdAt: createdAt(),
  },
  (table) => [index("step_ups_of_checkout").on(table.checkoutIntentId, table.sessionId)],
);

/** An order at a storefront: the state machine behind one idempotency key. */
export const orders = pgTable(
  "orders",
  {
    orderId: text("order_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    /** The agent that placed it. */
    subjectId: text("subject_id").notNull(),
    mandateId: text("mandate_id").notNull(),
    slot: text("slot").notNull(),
    fingerprint: text("fingerprint").notNull(),
    idempotencyKey: text("idempotency_key").notNull(),
    storefrontUrl: text("storefront_url").notNull(),
    items: json("items"),
    /** Of the first call. */
    metadata: json("metadata").$type<Record<string, unknown>>(),
    status: text("status").notNull(),
    /** Each decision has its own intent. */
    attempt: integer("attempt").notNull(),
    /** What the storefront offered when it was decided. */
    offer: json("offer"),
    authorizationId: text("authorization_id"),
    checkoutIntentId: text("checkout_intent_id"),
    executionId: text("execution_id"),
    /** Of the credential that went out. */
    credentialHash: text("credential_hash"),
    /** What the storefront said after it was paid. */
    answer: json("answer").$type<{
      readonly outcome: "completed" | "refused" | "unknown";
      readonly orderId: string | null;
      readonly status: string | null;
      readonly permalinkUrl: string | null;
    }>(),
    /** The reply's bytes, once nothing changes any more. */
    body: text("body"),
    /** Who works on it, and until when: a lease, because no transaction is open while the storefront is asked. */
    lease: text("lease"),
    leasedUntil: moment("leased_until"),
    /** When a worker looks at it: set while a payment may be under way. */
    nextCheckAt: moment("next_check_at"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex("orders_slot").on(table.slot),
    index("orders_of_organization").on(table.organizationId, table.orderId),
    index("orders_of_authorization").on(table.authorizationId),
    index("orders_due")
      .on(table.nextCheckAt)
      .where(sql`next_check_at IS NOT NULL`),
  ],
);
