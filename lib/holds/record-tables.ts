import { sql } from "drizzle-orm";
import { boolean, check, index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { amountCheck, atomic, createdAt, moment } from "#lib/db/columns.ts";

/**
 * A payment that is made elsewhere and recorded here. Its hold is in the mandate's unit; `paid` and `refunded` are sums of its parts, in
 * the payment's own asset.
 */
export const recordedPayments = pgTable(
  "recorded_payments",
  {
    authorizationId: text("authorization_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    mandateId: text("mandate_id").notNull(),
    /** The seller's id, or an HMAC of the payee's account. Null if the intent names neither. */
    payeeKey: text("payee_key"),
    /**
     * The reference in one spelling, so that another spelling does not pay an invoice twice. The own id after another payment took the
     * reference, because nothing was paid under this one.
     */
    referenceKey: text("reference_key").notNull(),
    /** open, or closed by a person or a key with payments:record. */
    status: text("status").notNull(),
    paid: atomic("paid")
      .notNull()
      .default(sql`0`),
    refunded: atomic("refunded")
      .notNull()
      .default(sql`0`),
    /** What a person is asked to look at: exceeded or overdue. Null if nothing. */
    asks: text("asks"),
    /** Until when the payment must be recorded; then a person is asked, and nothing is freed. */
    deadline: moment("deadline").notNull(),
    closedBy: text("closed_by"),
    createdAt: createdAt(),
    closedAt: moment("closed_at"),
  },
  (table) => [
    uniqueIndex("recorded_payments_reference").on(table.organizationId, sql`coalesce(payee_key, '-')`, table.referenceKey),
    index("recorded_payments_due")
      .on(table.deadline)
      .where(sql`status = 'open' AND asks IS NULL`),
    index("recorded_payments_asking")
      .on(table.organizationId, table.authorizationId)
      .where(sql`asks IS NOT NULL`),
    amountCheck("recorded_payments_paid", "paid"),
    amountCheck("recorded_payments_refunded", "refunded"),
    check("recorded_payments_closed", sql`(status = 'closed') = (closed_at IS NOT NULL)`),
  ],
);

/** The parts of a recorded payment, as somebody reported them. Rows are never changed. */
export const paymentRecords = pgTable(
  "payment_records",
  {
    recordId: text("record_id").primaryKey(),
    authorizationId: text("authorization_id").notNull(),
    organizationId: text("organization_id").notNull(),
    outcome: text("outcome").notNull(),
    /** In the payment's own asset. */
    amount: atomic("amount").notNull(),
    /** What it took from the mandate's budget, in the mandate's unit. */
    booked: atomic("booked").notNull(),
    /** When it was paid, as the caller says; null if nothing was paid. */
    paidAt: moment("paid_at"),
    reference: text("reference"),
    evidenceHash: text("evidence_hash"),
    evidenceUrl: text("evidence_url"),
    recordedBy: text("recorded_by").notNull(),
    /** Whether the agent that pays said it, which frees nothing. */
    byAgent: boolean("by_agent").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    index("payment_records_of_payment").on(table.authorizationId, table.recordId),
    amountCheck("payment_records_amount", "amount"),
    amountCheck("payment_records_booked", "booked"),
  ],
);
