import { sql } from "drizzle-orm";
import { boolean, check, index, integer, json, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import type { CanonicalBasket } from "#lib/approvals/basket.ts";
import { atomic, createdAt, moment, updatedAt } from "#lib/db/columns.ts";
import type { PaymentIntent } from "#lib/payment-intent.ts";

/** The terms of a row never change: a new price makes a new checkout. */
export const checkoutIntents = pgTable(
  "checkout_intents",
  {
    checkoutIntentId: text("checkout_intent_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    /** The agent, or person with their own session, that asks for the payment. Only an agent gets the continuation token. */
    ownerSubjectId: text("owner_subject_id").notNull(),
    sellerId: text("seller_id"),
    resourceId: text("resource_id"),
    /** In ASCII; whether it is verified is read from the seller's record. */
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
    /** The x402 PaymentRequired object that the storefront or the agent sent; null without one. */
    challenge: json("challenge").$type<Record<string, unknown>>(),
    /** The quote of the service fee when the checkout was made; null if there was none. */
    feeQuote: json("fee_quote").$type<PaymentIntent["feeQuote"]>(),
    /** The items that were asked for; null for a payment without an order. */
    items: json("items"),
    /** The storefront's data when the checkout was made; null for a payment without an order. */
    storefront: json("storefront"),
    metadata: json("metadata").$type<Record<string, unknown>>(),
    createsFulfillmentOrder: boolean("creates_fulfillment_order").notNull(),
    status: text("status").notNull(),
    /** The authorization with the hold; set at creation if a policy asked for approval, otherwise by the approval. */
    authorizationId: text("authorization_id"),
    orderId: text("order_id"),
    expiresAt: moment("expires_at").notNull(),
    /** When a person extended the time for the decision, which is allowed once. */
    extendedAt: moment("extended_at"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    // One open checkout per basket and mandate. If an amount is reserved, askPerson looks for an equal open request instead.
    uniqueIndex("checkout_intents_one_open")
      .on(table.organizationId, sql`coalesce(mandate_id, '')`, table.basketHash)
      .where(sql`status IN ('previewed', 'awaiting_approval') AND authorization_id IS NULL`),
    index("checkout_intents_of_organization").on(table.organizationId, table.checkoutIntentId),
    index("checkout_intents_of_authorization").on(table.authorizationId),
    index("checkout_intents_of_agent").on(table.ownerSubjectId, table.createdAt),
    index("checkout_intents_due")
      .on(table.expiresAt)
      .where(sql`status IN ('previewed', 'awaiting_approval')`),
    index("checkout_intents_waiting")
      .on(table.organizationId, table.expiresAt)
      .where(sql`status IN ('previewed', 'awaiting_approval')`),
    // Finds earlier decisions about a basket, so that people are not asked the same question again and again.
    index("checkout_intents_remembered")
      .on(table.mandateId, table.basketHash)
      .where(sql`status IN ('rejected', 'expired', 'previewed', 'awaiting_approval')`),
    check("checkout_intents_amount", sql`amount > 0 AND amount < 'NaN'`),
  ],
);

/** The terms that a session was shown. An approval confirms only these terms. */
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

export const checkoutApprovals = pgTable(
  "checkout_approvals",
  {
    approvalId: text("approval_id").primaryKey(),
    checkoutIntentId: text("checkout_intent_id").notNull(),
    organizationId: text("organization_id").notNull(),
    status: text("status").notNull(),
    approvedAt: moment("approved_at").notNull(),
    approvedBySubjectId: text("approved_by_subject_id").notNull(),
    /** Why the person declined. */
    reason: text("reason"),
    /** The person who took the approval back; the status is then `revoked`, and the checkout's `rejected`. */
    takenBackBySubjectId: text("taken_back_by_subject_id"),
    preselectedMandateId: text("preselected_mandate_id"),
    /** The continuation token allows a payment only under this mandate. Null in a rejection without a mandate. */
    mandateId: text("mandate_id"),
    agentId: text("agent_id").notNull(),
    approvalSurface: text("approval_surface").notNull(),
    /** How the identity was proved: by session or password, or by a passkey that signed the approved terms. */
    assuranceLevel: text("assurance_level").notNull().default("softwareApproved"),
    approvedBasketHash: text("approved_basket_hash").notNull(),
    approvedAmount: atomic("approved_amount").notNull(),
    approvedAsset: text("approved_asset").notNull(),
    approvedChain: text("approved_chain").notNull(),
    approvedPayTo: text("approved_pay_to").notNull(),
    /** The authorization with the hold; null in a rejection if there was none. */
    authorizationId: text("authorization_id"),
    continuationTokenId: text("continuation_token_id"),
    /** The SHA-256 of the token. The token is never stored: it is an HMAC of its id, so the service can compute it again. */
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
    index("checkout_approvals_of_person").on(table.approvedBySubjectId, table.approvedAt),
    index("checkout_approvals_due")
      .on(table.expiresAt)
      .where(sql`status = 'pending'`),
    check("checkout_approvals_amount", sql`approved_amount > 0 AND approved_amount < 'NaN'`),
  ],
);

/** Each proof of identity is for one checkout in one session and can be used once. */
export const stepUps = pgTable(
  "step_ups",
  {
    stepUpId: text("step_up_id").primaryKey(),
    sessionId: text("session_id").notNull(),
    userId: text("user_id").notNull(),
    checkoutIntentId: text("checkout_intent_id").notNull(),
    method: text("method").notNull(),
    /** Null for a password. The proof is invalid after the passkey is removed. */
    passkeyId: text("passkey_id"),
    /** The proof is valid only while the checkout has this hash, `amount` and `payTo`. */
    basketHash: text("basket_hash"),
    amount: atomic("amount"),
    payTo: text("pay_to"),
    expiresAt: moment("expires_at").notNull(),
    usedAt: moment("used_at"),
    createdAt: createdAt(),
  },
  (table) => [index("step_ups_of_checkout").on(table.checkoutIntentId, table.sessionId)],
);

/** A person's permission, valid once, for one payment that the mandate refused. */
export const waivers = pgTable(
  "waivers",
  {
    waiverId: text("waiver_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    mandateId: text("mandate_id").notNull(),
    /** The mandate's version when the waiver was given; a changed mandate ends the waiver. */
    policyVersion: integer("policy_version").notNull(),
    /** The authorization in which the payment was refused. */
    authorizationId: text("authorization_id").notNull(),
    subjectId: text("subject_id").notNull(),
    basketHash: text("basket_hash").notNull(),
    /** The amount that the buyer pays: the price and the buyer's share of the fee. */
    charged: atomic("charged").notNull(),
    payTo: text("pay_to").notNull(),
    grantedBySubjectId: text("granted_by_subject_id").notNull(),
    expiresAt: moment("expires_at").notNull(),
    /** Null if no payment used the waiver. */
    usedByAuthorizationId: text("used_by_authorization_id"),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("waivers_one").on(table.authorizationId),
    uniqueIndex("waivers_of_use").on(table.usedByAuthorizationId),
    index("waivers_open")
      .on(table.mandateId, table.expiresAt)
      .where(sql`used_by_authorization_id IS NULL`),
    check("waivers_charged", sql`charged > 0 AND charged < 'NaN'`),
  ],
);

/** Money that a person let through by another act than an approval. Approvals are counted where they are stored. */
export const allowances = pgTable(
  "allowances",
  {
    allowanceId: text("allowance_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    userId: text("user_id").notNull(),
    /** The refused payment that was allowed once, or the mandate. */
    subjectId: text("subject_id").notNull(),
    asset: text("asset").notNull(),
    chain: text("chain").notNull(),
    amount: atomic("amount").notNull(),
    /** Whether only verified payees can be paid with it. */
    verified: boolean("verified").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    index("allowances_of_user").on(table.userId, table.createdAt),
    check("allowances_amount", sql`amount > 0 AND amount < 'NaN'`),
  ],
);

export const orders = pgTable(
  "orders",
  {
    orderId: text("order_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    /** The agent or person that placed the order. Nobody else may continue it. */
    subjectId: text("subject_id").notNull(),
    mandateId: text("mandate_id").notNull(),
    slot: text("slot").notNull(),
    fingerprint: text("fingerprint").notNull(),
    idempotencyKey: text("idempotency_key").notNull(),
    storefrontUrl: text("storefront_url").notNull(),
    items: json("items"),
    /** The metadata of the first call or, if the order continues a checkout, of the checkout. */
    metadata: json("metadata").$type<Record<string, unknown>>(),
    status: text("status").notNull(),
    /** How many payment intents were made for the order; 0 if it continues an approved checkout. */
    attempt: integer("attempt").notNull(),
    /** The Offer that was stored last; null before the first. */
    offer: json("offer"),
    authorizationId: text("authorization_id"),
    checkoutIntentId: text("checkout_intent_id"),
    executionId: text("execution_id"),
    /** The hash of the signed payment that started the order's payment. */
    credentialHash: text("credential_hash"),
    /** Null until the storefront's answer to the signed payment is final. */
    answer: json("answer").$type<{
      readonly outcome: "completed" | "refused" | "unknown";
      readonly orderId: string | null;
      readonly status: string | null;
      readonly permalinkUrl: string | null;
    }>(),
    /** The reply about the ended order; null until the agent first gets it. */
    body: text("body"),
    /** Names the call or worker that may change the order; another can take over after leasedUntil. */
    lease: text("lease"),
    leasedUntil: moment("leased_until"),
    /** When a worker next checks the order; set while a payment may be under way. */
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
