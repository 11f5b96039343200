import { sql } from "drizzle-orm";
import { bigint, index, integer, json, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import type { AlertFacts } from "#lib/alerts/facts.ts";
import { createdAt, moment } from "#lib/db/columns.ts";

/** How far each organization's audit log was read for alerts, as the sequence number of the last event read. */
export const alertCursors = pgTable("alert_cursors", {
  chain: text("chain").primaryKey(),
  sequence: bigint("sequence", { mode: "number" }).notNull(),
});

/** Alerts that are not delivered yet, and alerts that were delivered, dropped or given up. */
export const alerts = pgTable(
  "alerts",
  {
    alertId: text("alert_id").primaryKey(),
    /** Null for an alert that goes to the platform's administrators. */
    organizationId: text("organization_id"),
    /** The id of what the alert is about: a mandate, the execution of a payment, or an account on a chain. */
    subjectId: text("subject_id").notNull(),
    /**
     * Names the time span that the alert is about and, for a budget, the limit or, for refusals, their code. A unique index
     * allows one alert for each subject, window and threshold.
     */
    window: text("window").notNull(),
    threshold: integer("threshold").notNull(),
    facts: json("facts").$type<AlertFacts>().notNull(),
    dueAt: moment("due_at").notNull(),
    /**
     * `dropped`: not sent, because it was no longer true, or because an alert about a higher threshold was sent. `failed`: five
     * attempts failed.
     */
    status: text("status", { enum: ["waiting", "delivered", "dropped", "failed"] }).notNull(),
    attempts: integer("attempts").notNull().default(0),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("alerts_once").on(table.subjectId, table.window, table.threshold),
    index("alerts_due")
      .on(table.dueAt)
      .where(sql`status = 'waiting'`),
    index("alerts_newest").on(table.createdAt),
  ],
);

/** How often payments under a mandate were refused for the same reason in an hour. */
export const refusalCounts = pgTable(
  "refusal_counts",
  {
    mandateId: text("mandate_id").notNull(),
    code: text("code").notNull(),
    hour: moment("hour").notNull(),
    count: integer("count").notNull(),
  },
  (table) => [primaryKey({ columns: [table.mandateId, table.code, table.hour] }), index("refusal_counts_old").on(table.hour)],
);

/** The thresholds of mandates for which people chose thresholds. Other mandates have the default thresholds. */
export const mandateThresholds = pgTable("mandate_thresholds", {
  mandateId: text("mandate_id").primaryKey(),
  /** Each threshold is a percentage of every limit of the mandate. Sorted in ascending order. */
  thresholds: integer("thresholds").array().notNull(),
});
