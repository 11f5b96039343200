import { sql } from "drizzle-orm";
import { index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";

/**
 * The outbox. `kept` is for a sandbox without SMTP: a developer reads the mail here, and it is never sent. The text of a mail is deleted
 * when it is sent or given up, because it may contain a sign-in link.
 */
export const mails = pgTable(
  "mails",
  {
    mailId: text("mail_id").primaryKey(),
    recipient: text("recipient").notNull(),
    subject: text("subject").notNull(),
    plain: text("plain").notNull(),
    html: text("html").notNull(),
    status: text("status", { enum: ["queued", "sent", "failed", "kept"] }).notNull(),
    attempts: integer("attempts").notNull().default(0),
    /** When the mail is tried next. While a worker sends it, this is the end of the worker's lease. */
    nextAttemptAt: moment("next_attempt_at"),
    /** When its link expires; the mail is useless after that. */
    usefulUntil: moment("useful_until"),
    createdAt: createdAt(),
    endedAt: moment("ended_at"),
  },
  (table) => [
    index("mails_due")
      .on(table.nextAttemptAt)
      .where(sql`status = 'queued'`),
    index("mails_newest").on(table.createdAt),
  ],
);
