import { sql } from "drizzle-orm";
import { bigint, index, integer, json, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import type { AlertFacts } from "#lib/alerts/facts.ts";
import { createdAt, moment } from "#lib/db/columns.ts";

/** How far each organization's audit log was read for alerts. */
export const alertCursors = pgTable("alert_cursors", {
  chain: text("chain").primaryKey(),
  sequence: bigint("sequence", { mode: "number" }).notNull(),
});

export const alerts = pgTable(
  "alerts",
  {
    alertId: text("alert_id").primaryKey(),
    /** Null for an alert that goes to the platform's administrators. */
    organizationId: text("organization_id"),
    /** What the alert is about: the id of a mandate or execution, or a chain and a key of the service: "eip155:1 relayer". */
    subjectId: text("subject_id").notNull(),
    /** Names the limit or the cause and, except for "total" and "unknown", the time span that the alert is about. */
    window: text("window").notNull(),
    threshold: integer("threshold").notNull(),
    facts: json("facts").$type<AlertFacts>().notNull(),
    dueAt: moment("due_at").notNull(),
    /** `dropped`: no longer true, or stored together with a higher threshold. `failed`: five attempts failed. */
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

/** Mandates without a row have the default thresholds. */
export const mandateThresholds = pgTable("mandate_thresholds", {
  mandateId: text("mandate_id").primaryKey(),
  /** Percentages of each limit on an amount in a time span or in total, in ascending order. */
  thresholds: integer("thresholds").array().notNull(),
});
