import { sql } from "drizzle-orm";
import { index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";

/**
 * The mails to send. In a sandbox without SMTP, a mail has the status `kept`: a developer reads it, and it is never sent. The
 * text of a mail is deleted when the mail is sent or given up, because it may contain a sign-in link.
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
    /** When the mail is tried next. While a worker sends the mail, no other worker takes it before this time. */
    nextAttemptAt: moment("next_attempt_at"),
    /** When the mail becomes useless, for example because its link or the request in it expires. It is not sent after that. */
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
