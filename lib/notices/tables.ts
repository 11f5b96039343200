import { sql } from "drizzle-orm";
import { bigint, boolean, check, foreignKey, index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";
import { user } from "#lib/identity/tables.ts";

/** The last event that was read in an audit chain. */
export const noticeCursors = pgTable("notice_cursors", {
  chain: text("chain").primaryKey(),
  sequence: bigint("sequence", { mode: "number" }).notNull(),
});

export const notices = pgTable(
  "notices",
  {
    /** The audit event that opened the request. */
    auditEventId: text("audit_event_id").notNull(),
    kind: text("kind", { enum: ["opened", "halfTime", "lastMinutes"] }).notNull(),
    organizationId: text("organization_id").notNull(),
    checkoutIntentId: text("checkout_intent_id").notNull(),
    dueAt: moment("due_at").notNull(),
    /** `dropped`: the request had ended, or a later notice was due too. `failed`: the messages could not be written. */
    status: text("status", { enum: ["waiting", "delivered", "dropped", "failed"] })
      .notNull()
      .default("waiting"),
    /** How often the transaction for this request alone has failed while the notice was due. */
    attempts: integer("attempts").notNull().default(0),
    endedAt: moment("ended_at"),
  },
  (table) => [
    primaryKey({ columns: [table.auditEventId, table.kind] }),
    index("notices_due")
      .on(table.dueAt)
      .where(sql`status = 'waiting'`),
    index("notices_ended")
      .on(table.endedAt)
      .where(sql`status <> 'waiting'`),
    index("notices_of_checkout").on(table.checkoutIntentId),
  ],
);

/** The primary key prevents a second mail to a person for the same notice, whichever process delivers the notice. */
export const noticeDeliveries = pgTable(
  "notice_deliveries",
  {
    auditEventId: text("audit_event_id").notNull(),
    kind: text("kind", { enum: ["opened", "halfTime", "lastMinutes"] }).notNull(),
    recipientId: text("recipient_id").notNull(),
    channel: text("channel", { enum: ["mail"] }).notNull(),
    /** The mail in the queue of outgoing mails, which records whether the mail server accepted the mail. */
    mailId: text("mail_id").notNull(),
    digest: boolean("digest").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.auditEventId, table.kind, table.recipientId, table.channel] }),
    foreignKey({
      name: "notice_deliveries_notice",
      columns: [table.auditEventId, table.kind],
      foreignColumns: [notices.auditEventId, notices.kind],
    }).onDelete("cascade"),
    index("notice_deliveries_mail").on(table.mailId),
    index("notice_deliveries_recent").on(table.recipientId, table.createdAt),
  ],
);

/** People without a row get mail, and push messages at any hour. */
export const noticeSettings = pgTable(
  "notice_settings",
  {
    userId: text("user_id")
      .primaryKey()
      .references(() => user.id, { onDelete: "cascade" }),
    mail: boolean("mail").notNull(),
    /** Quiet hours, as "22:00" and "07:00" in this time zone: all three or none. */
    quietFrom: text("quiet_from"),
    quietTo: text("quiet_to"),
    timezone: text("timezone"),
  },
  () => [check("notice_settings_quiet", sql`num_nulls(quiet_from, quiet_to, timezone) IN (0, 3)`)],
);
