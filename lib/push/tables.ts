import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";
import { session } from "#lib/identity/tables.ts";

/** The push subscription of a browser; it is deleted with its session. */
export const pushDevices = pgTable("push_devices", {
  deviceId: text("device_id").primaryKey(),
  sessionId: text("session_id")
    .notNull()
    .unique()
    .references(() => session.id, { onDelete: "cascade" }),
  /** The address of the browser at its push service. With the next two columns, messages to the browser are encrypted. */
  endpoint: text("endpoint").notNull().unique(),
  p256dh: text("p256dh").notNull(),
  auth: text("auth").notNull(),
  /** Whether messages about requests name the payee and the amount, which a lock screen can show. */
  details: boolean("details").notNull(),
  /** Since when no message has been accepted; such a device is tried after the others. Null after an accepted message. */
  failingSince: moment("failing_since"),
  createdAt: createdAt(),
});

/** The content of a message is made when it is sent, and not stored. */
export const pushes = pgTable(
  "pushes",
  {
    pushId: text("push_id").primaryKey(),
    deviceId: text("device_id")
      .notNull()
      .references(() => pushDevices.deviceId, { onDelete: "cascade" }),
    /** The id of the audit event or the alert that the message is about. */
    causeId: text("cause_id").notNull(),
    kind: text("kind").notNull(),
    organizationId: text("organization_id").notNull(),
    checkoutIntentId: text("checkout_intent_id"),
    /** Whether the message makes no sound, because the device was sent many in a short time. */
    silent: boolean("silent").notNull(),
    status: text("status", { enum: ["queued", "accepted", "failed"] })
      .notNull()
      .default("queued"),
    attempts: integer("attempts").notNull().default(0),
    /** The next attempt; while a worker sends the message, the end of the time for which the worker has reserved it. */
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
