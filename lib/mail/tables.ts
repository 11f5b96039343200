import { sql } from "drizzle-orm";
import { index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, moment } from "#lib/db/columns.ts";

/** The text is deleted when the mail is sent or given up, because it may contain a sign-in link; a `kept` mail is not sent. */
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
    /** When the mail is tried next; while a worker sends the mail, no other worker takes it before this time. */
    nextAttemptAt: moment("next_attempt_at"),
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
