import { and, desc, eq, sql } from "drizzle-orm";
import type { Sql } from "#lib/db/sql.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { deleteOld } from "#lib/db/delete-old.ts";
import { mails } from "#lib/mail/tables.ts";
import { hasEnded, type Outbox, type Receivers } from "#lib/outbox/store.ts";
import { minutes } from "#lib/time.ts";

export type MailRow = typeof mails.$inferSelect;
export type NewMail = Pick<MailRow, "mailId" | "recipient" | "subject" | "plain" | "html" | "status" | "usefulUntil">;

/** The longest pause between two attempts. */
export const PAUSE_MAX_MS = minutes(60);

/** The text of a mail is deleted when it ends, because nobody needs it any more. */
export const mailbox: Outbox<typeof mails> = {
  table: mails,
  id: mails.mailId,
  due: "nextAttemptAt",
  waiting: "queued",
  longest: PAUSE_MAX_MS,
  ending: { plain: "", html: "" },
};

/** Mails that failed come after the others. */
export const readers: Receivers = {
  owner: mails.recipient,
  host: sql<string>`lower(split_part(${mails.recipient}, '@', 2))`,
  isLast: sql`${mails.attempts} > 0`,
};

/** Truncated, because the columns round to milliseconds, perhaps up to a time at which the mail is not due yet. */
const now = sql`date_trunc('milliseconds', clock_timestamp())`;

/** Without `sendAt`, a queued mail is due at once; a kept mail is never sent. */
const rowOf = ({ sendAt, ...mail }: NewMail & { readonly sendAt?: Date }) => {
  const kept = mail.status === "kept";
  return { ...mail, nextAttemptAt: kept ? null : (sendAt ?? now), endedAt: kept ? now : null };
};

export async function insertMails(tx: Tx, added: readonly (NewMail & { readonly sendAt?: Date })[]): Promise<void> {
  if (added.length > 0) await tx.insert(mails).values(added.map(rowOf));
}

export const insertMail = (tx: Tx, mail: NewMail): Promise<void> => insertMails(tx, [mail]);

/** Does the same as insertMail, on the connection of a batch of authorizations (lib/payments/authorize-batch.ts). */
export function insertMailOn(c: Sql, mail: NewMail) {
  const { mailId, recipient, subject, plain, html, status, usefulUntil } = mail;
  return c`
    INSERT INTO mails (mail_id, recipient, subject, plain, html, status, useful_until, next_attempt_at, ended_at)
    SELECT ${mailId}, ${recipient}, ${subject}, ${plain}, ${html}, ${status}, ${usefulUntil?.toISOString() ?? null}::timestamptz,
      CASE WHEN ${status}::text = 'kept' THEN NULL ELSE date_trunc('milliseconds', clock_timestamp()) END,
      CASE WHEN ${status}::text = 'kept' THEN clock_timestamp() END`;
}

/** The mails of a sandbox without SMTP, newest first; `recipient` is in lower case. */
export const newestKept = (rows: number, recipient?: string): Promise<MailRow[]> =>
  database()
    .select()
    .from(mails)
    .where(and(eq(mails.status, "kept"), recipient === undefined ? undefined : eq(sql`lower(${mails.recipient})`, recipient)))
    .orderBy(desc(mails.createdAt), desc(mails.mailId))
    .limit(rows);

const KEPT_DAYS = 30;

export const forgetOldMails = (): Promise<number> => deleteOld(mails.createdAt, KEPT_DAYS, hasEnded(mailbox));
