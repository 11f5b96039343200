import { sql } from "drizzle-orm";
import { index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";

/**
 * Mail on its way. `kept` is a sandbox without SMTP: a developer reads it here and nothing is sent. What was sent or given up loses its
 * text at once, because it may carry a link that signs somebody in.
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
    /** Also the end of a worker's lease. */
    nextAttemptAt: moment("next_attempt_at"),
    /** After it the mail is of no use: its link has ended. */
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
