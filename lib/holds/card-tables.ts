import { sql } from "drizzle-orm";
import { bigint, boolean, check, index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { amountCheck, atomic, createdAt, moment } from "#lib/db/columns.ts";

/* Payments by card. Amounts are in the card's currency, with the decimals of a unit. */

/** What Stripe has told about an authorization (`iauth_…`). The first decision or event makes the row. */
export const cardAuthorizations = pgTable(
  "card_authorizations",
  {
    connectionId: text("connection_id").notNull(),
    stripeId: text("stripe_id").notNull(),
    organizationId: text("organization_id").notNull(),
    cardId: text("card_id").notNull(),
    merchantName: text("merchant_name"),
    /** The newest snapshot (see cards/card-rules.ts); null before an event has told one. */
    approved: boolean("approved"),
    status: text("status"),
    amount: atomic("amount"),
    requests: integer("requests"),
    /** Seconds since 1970 when the event of the snapshot was created. */
    toldAt: bigint("told_at", { mode: "number" }),
    /** The newest snapshot before the end, as one after it may tell less. */
    pendingAmount: atomic("pending_amount"),
    pendingRequests: integer("pending_requests"),
    pendingToldAt: bigint("pending_told_at", { mode: "number" }),
    /** Until when an authorization that ended is expected to be captured, and whether that time is over. */
    tailUntil: moment("tail_until"),
    tailOver: boolean("tail_over").notNull().default(false),
    /** What a person is asked to look at: unconfirmed, exceeded or outside; unasked until the mandate was asked. Null if nothing. */
    asks: text("asks"),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.connectionId, table.stripeId] }),
    index("card_authorizations_tail")
      .on(table.tailUntil)
      .where(sql`tail_until IS NOT NULL`),
    index("card_authorizations_asking")
      .on(table.organizationId, table.createdAt)
      .where(sql`asks IS NOT NULL`),
    check("card_authorizations_snapshot", sql`num_nulls(approved, status, amount, requests, told_at) IN (0, 5)`),
  ],
);

/** One decision of ours about an authorization, and what has become of its hold. */
export const cardParts = pgTable(
  "card_parts",
  {
    authorizationId: text("authorization_id").primaryKey(),
    connectionId: text("connection_id").notNull(),
    stripeId: text("stripe_id").notNull(),
    /** How many requests Stripe had decided before this one. */
    position: integer("position").notNull(),
    /** What we approved; zero for a declined request. */
    held: atomic("held").notNull(),
    open: atomic("open").notNull(),
    captured: atomic("captured")
      .notNull()
      .default(sql`0`),
  },
  (table) => [
    index("card_parts_of").on(table.connectionId, table.stripeId, table.position),
    index("card_parts_held")
      .on(table.authorizationId)
      .where(sql`open > 0`),
    amountCheck("card_parts_open", "open"),
    amountCheck("card_parts_captured", "captured"),
  ],
);

/** Captures and refunds (`ipi_…`), as Stripe told them. Rows are never changed. */
export const cardTransactions = pgTable(
  "card_transactions",
  {
    connectionId: text("connection_id").notNull(),
    transactionId: text("transaction_id").notNull(),
    organizationId: text("organization_id").notNull(),
    /** Null if Stripe links the transaction to no authorization. */
    stripeId: text("stripe_id"),
    cardId: text("card_id").notNull(),
    kind: text("kind").notNull(),
    amount: atomic("amount").notNull(),
    currency: text("currency").notNull(),
    merchantName: text("merchant_name"),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.connectionId, table.transactionId] }),
    index("card_transactions_of").on(table.connectionId, table.stripeId),
    amountCheck("card_transactions_amount", "amount"),
  ],
);
