import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";

export const webhookEndpoints = pgTable(
  "webhook_endpoints",
  {
    webhookEndpointId: text("webhook_endpoint_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    url: text("url").notNull(),
    description: text("description"),
    /** Types such as payment.settled, or payment.* for all types of an entity. Empty for all events. */
    eventTypes: text("event_types").array().notNull(),
    /** Whether messages contain the whole event, with its actor and all of its metadata. */
    full: boolean("full").notNull().default(false),
    status: text("status", { enum: ["enabled", "paused", "disabled"] }).notNull(),
    disabledReason: text("disabled_reason"),
    publicKey: text("public_key").notNull(),
    /** The secrets, encrypted. */
    sealed: text("sealed").notNull(),
    /** The encrypted previous secrets, which also sign until `previousUntil`. Null without a rotation or a grace period. */
    previousSealed: text("previous_sealed"),
    previousUntil: moment("previous_until"),
    /** Up to this number, the events of the audit chain got a delivery, were not wanted, or are older than the endpoint. */
    sequence: bigint("sequence", { mode: "number" }).notNull(),
    lastAttemptAt: moment("last_attempt_at"),
    lastSuccessAt: moment("last_success_at"),
    /** The time of the first failure since the last success or since the endpoint was enabled again; null if there was none. */
    failingSince: moment("failing_since"),
    createdAt: createdAt(),
  },
  (table) => [index("webhook_endpoints_of").on(table.organizationId, table.webhookEndpointId)],
);

/** An event of the audit chain has no row before its first attempt; a test message has one at once. */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    webhookDeliveryId: text("webhook_delivery_id").primaryKey(),
    webhookEndpointId: text("webhook_endpoint_id")
      .notNull()
      .references(() => webhookEndpoints.webhookEndpointId, { onDelete: "cascade" }),
    organizationId: text("organization_id").notNull(),
    eventId: text("event_id").notNull(),
    type: text("type").notNull(),
    /** The event's number in the organization's audit chain; null for a test message. */
    sequence: bigint("sequence", { mode: "number" }),
    status: text("status", { enum: ["pending", "delivered", "failed"] }).notNull(),
    attempts: integer("attempts").notNull(),
    /** The time of the next attempt, or the end of the sending process's lease. Null if no attempt follows. */
    nextAttemptAt: moment("next_attempt_at"),
    lastAttemptAt: moment("last_attempt_at"),
    /** The HTTP status of the last attempt that ended; null if none has ended, or if that attempt got no answer. */
    responseStatus: integer("response_status"),
    responseBody: text("response_body"),
    error: text("error"),
    durationMs: integer("duration_ms"),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("webhook_deliveries_once").on(table.webhookEndpointId, table.eventId),
    index("webhook_deliveries_due")
      .on(table.webhookEndpointId, table.nextAttemptAt)
      .where(sql`status = 'pending'`),
    index("webhook_deliveries_newest").on(table.webhookEndpointId, table.webhookDeliveryId),
    index("webhook_deliveries_oldest").on(table.createdAt),
  ],
);
