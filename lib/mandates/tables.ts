import { sql } from "drizzle-orm";
import { check, index, integer, json, pgTable, pgView, primaryKey, text } from "drizzle-orm/pg-core";
import { amountCheck, atomic, createdAt, moment, updatedAt } from "#lib/db/columns.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";

/** The lock of a row guards the mandate's budget and holds; spent and reserved are sums over the mandate's whole life. */
export const mandates = pgTable(
  "mandates",
  {
    mandateId: text("mandate_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    name: text("name").notNull(),
    status: text("status").notNull(),
    version: integer("version").notNull(),
    asset: text("asset").notNull(),
    chain: text("chain").notNull(),
    agents: text("agents").array(),
    walletChain: text("wallet_chain"),
    walletAddress: text("wallet_address"),
    metadata: json("metadata"),
    spent: atomic("spent")
      .notNull()
      .default(sql`0`),
    reserved: atomic("reserved")
      .notNull()
      .default(sql`0`),
    /** The maximum of spent + reserved: the total, or the usage if a change or overrun made it higher. Null without a total. */
    ceiling: atomic("ceiling"),
    /** The cooldown starts at this time. */
    lastHeldAt: moment("last_held_at"),
    createdBy: text("created_by").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    index("mandates_of_organization").on(table.organizationId, table.environment, table.mandateId),
    // Do not add `reserved` to the condition: then every payment would write to all indexes of the row.
    index("mandates_revoked")
      .on(table.mandateId)
      .where(sql`status = 'revoked'`),
    amountCheck("mandates_spent", "spent"),
    amountCheck("mandates_reserved", "reserved"),
    amountCheck("mandates_ceiling", "ceiling"),
    check("mandates_within_ceiling", sql`spent + reserved <= ceiling`),
  ],
);

export const mandateVersions = pgTable(
  "mandate_versions",
  {
    mandateId: text("mandate_id").notNull(),
    version: integer("version").notNull(),
    policy: json("policy").$type<Policy>().notNull(),
    createdBy: text("created_by").notNull(),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.mandateId, table.version] })],
);

/** A window's key does not contain the policy version, so a new version does not reset a budget. */
export const usageBuckets = pgTable(
  "usage_buckets",
  {
    mandateId: text("mandate_id").notNull(),
    windowKey: text("window_key").notNull(),
    start: moment("start").notNull(),
    liveUntil: moment("live_until").notNull(),
    spent: atomic("spent")
      .notNull()
      .default(sql`0`),
    reserved: atomic("reserved")
      .notNull()
      .default(sql`0`),
    payments: integer("payments").notNull().default(0),
    /** The maximum of spent + reserved in this bucket; null if the window only counts payments. */
    ceiling: atomic("ceiling"),
  },
  (table) => [
    primaryKey({ columns: [table.mandateId, table.windowKey, table.start] }),
    index("usage_buckets_live").on(table.mandateId, table.liveUntil),
    // For the deletion of old buckets. Reserving an amount does not change live_until, so it rarely writes to this index.
    index("usage_buckets_over").on(table.liveUntil),
    amountCheck("usage_buckets_spent", "spent"),
    amountCheck("usage_buckets_reserved", "reserved"),
    check("usage_buckets_payments", sql`payments >= 0`),
    check("usage_buckets_within_ceiling", sql`spent + reserved <= ceiling`),
  ],
);

const ledgerColumns = {
  ledgerId: text("ledger_id").notNull(),
  organizationId: text("organization_id").notNull(),
  mandateId: text("mandate_id").notNull(),
  authorizationId: text("authorization_id").notNull(),
  kind: text("kind").notNull(),
  amount: atomic("amount").notNull(),
  createdAt: createdAt(),
};

/** The ends of holds, and payments that settled after their hold had ended (overruns); rows are never changed. */
export const resolutions = pgTable("resolutions", ledgerColumns, (table) => [
  primaryKey({ name: "resolutions_of_mandate", columns: [table.mandateId, table.ledgerId] }),
  check("resolutions_amount", sql`amount > 0 AND amount < 'NaN'`),
]);

/** The resolutions, and one entry for each authorization that reserved an amount. */
export const mandateLedger = pgView("mandate_ledger", ledgerColumns).existing();

/** The approval mode firstPayment asks a person until the seller has a row here. */
export const mandateSellers = pgTable(
  "mandate_sellers",
  {
    mandateId: text("mandate_id").notNull(),
    sellerId: text("seller_id").notNull(),
    firstPaidAt: moment("first_paid_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.mandateId, table.sellerId] })],
);
