import { sql } from "drizzle-orm";
import { bigint, check, index, integer, json, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { amountCheck, atomic, createdAt, moment, updatedAt } from "#lib/db/columns.ts";

/** Amounts are decimal text, in units of the schedule's asset; without an asset they are zero or null. */
export const feeSchedules = pgTable(
  "fee_schedules",
  {
    feeScheduleId: text("fee_schedule_id").primaryKey(),
    name: text("name").notNull(),
    status: text("status").notNull(),
    buyerOrganizationId: text("buyer_organization_id"),
    sellerOrganizationId: text("seller_organization_id"),
    planTier: text("plan_tier"),
    settlementMode: text("settlement_mode"),
    chain: text("chain"),
    asset: text("asset"),
    feePayer: text("fee_payer").notNull(),
    feeRecipient: text("fee_recipient").notNull(),
    percentageBps: integer("percentage_bps").notNull(),
    flatAmount: text("flat_amount").notNull(),
    minimumFeeAmount: text("minimum_fee_amount"),
    maximumFeeAmount: text("maximum_fee_amount"),
    includedMonthlyVolume: bigint("included_monthly_volume", { mode: "number" }).notNull(),
    effectiveFrom: moment("effective_from").notNull(),
    effectiveUntil: moment("effective_until"),
    metadata: json("metadata"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    index("fee_schedules_buyer").on(table.buyerOrganizationId),
    index("fee_schedules_seller").on(table.sellerOrganizationId),
    check("fee_schedules_bps", sql`percentage_bps BETWEEN 0 AND 10000`),
  ],
);

export const subscriptions = pgTable("subscriptions", {
  subscriptionId: text("subscription_id").primaryKey(),
  organizationId: text("organization_id").notNull().unique(),
  planId: text("plan_id").notNull(),
  tier: text("tier").notNull(),
  status: text("status").notNull(),
  currentPeriodStart: moment("current_period_start").notNull(),
  currentPeriodEnd: moment("current_period_end").notNull(),
  metadata: json("metadata"),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

/** The replies of quoteFee; the fee quote of a payment is stored in the row of its authorization instead. */
export const feeQuotes = pgTable(
  "fee_quotes",
  {
    feeQuoteId: text("fee_quote_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    quote: json("quote").notNull(),
    createdAt: createdAt(),
  },
  (table) => [index("fee_quotes_of_organization").on(table.organizationId, table.feeQuoteId)],
);

/** Debts of buyers and sellers for captured payments; they are not paid on the chain. */
export const fees = pgTable(
  "fees",
  {
    feeId: text("fee_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    authorizationId: text("authorization_id").notNull(),
    side: text("side").notNull(),
    amount: atomic("amount").notNull(),
    asset: text("asset").notNull(),
    chain: text("chain").notNull(),
    kind: text("kind").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    index("fees_of_organization").on(table.organizationId, table.feeId),
    check("fees_amount", sql`amount > 0 AND amount < 'NaN'`),
  ],
);

/** The gross amount that each organization has paid in each UTC month, which decides whether includedMonthlyVolume is used up. */
export const monthlyVolumes = pgTable(
  "monthly_volumes",
  {
    organizationId: text("organization_id").notNull(),
    month: text("month").notNull(),
    chain: text("chain").notNull(),
    asset: text("asset").notNull(),
    gross: atomic("gross").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.month, table.chain, table.asset] }),
    amountCheck("monthly_volumes_gross", "gross"),
  ],
);
