import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";
import { session } from "#lib/identity/tables.ts";

/** The push subscription of a browser. It belongs to the session that registered it, and is deleted with it. */
export const pushDevices = pgTable("push_devices", {
  deviceId: text("device_id").primaryKey(),
  sessionId: text("session_id")
    .notNull()
    .unique()
    .references(() => session.id, { onDelete: "cascade" }),
  /** The address at the push service. Whoever knows it and the two keys can send messages to the device. */
  endpoint: text("endpoint").notNull().unique(),
  p256dh: text("p256dh").notNull(),
  auth: text("auth").notNull(),
  /** Whether a message may name payee and amount, which then stand on the lock screen. */
  details: boolean("details").notNull(),
  createdAt: createdAt(),
});

/** Messages to devices. The text of a message is composed when it is sent, so no row contains one. */
export const pushes = pgTable(
  "pushes",
  {
    pushId: text("push_id").primaryKey(),
    deviceId: text("device_id")
      .notNull()
      .references(() => pushDevices.deviceId, { onDelete: "cascade" }),
    /** The audit event, or another record, that the message is about. */
    causeId: text("cause_id").notNull(),
    kind: text("kind").notNull(),
    organizationId: text("organization_id").notNull(),
    checkoutIntentId: text("checkout_intent_id"),
    /** Shown without a sound, because the device got several messages lately. */
    silent: boolean("silent").notNull(),
    status: text("status", { enum: ["queued", "accepted", "failed"] })
      .notNull()
      .default("queued"),
    attempts: integer("attempts").notNull().default(0),
    /** Also the end of a worker's lease. */
    nextAttemptAt: moment("next_attempt_at"),
    usefulUntil: moment("useful_until").notNull(),
    createdAt: createdAt(),
    endedAt: moment("ended_at"),
  },
  (table) => [
    uniqueIndex("pushes_once").on(table.causeId, table.kind, table.deviceId),
    index("pushes_due")
      .on(table.nextAttemptAt)
      .where(sql`status = 'queued'`),
    index("pushes_of_device").on(table.deviceId, table.createdAt),
    index("pushes_of_checkout").on(table.checkoutIntentId),
    index("pushes_newest").on(table.createdAt),
  ],
);
