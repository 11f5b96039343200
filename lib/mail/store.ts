import { and, asc, desc, eq, lte, notInArray, sql } from "drizzle-orm";
import type { Sql } from "#lib/db/sql.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { after } from "#lib/db/leases.ts";
import type { Full } from "#lib/http/fair-work.ts";
import { mails } from "#lib/mail/tables.ts";

export type MailRow = typeof mails.$inferSelect;
export type NewMail = Pick<MailRow, "mailId" | "recipient" | "subject" | "plain" | "html" | "status" | "usefulUntil">;

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

const isDue = () => and(eq(mails.status, "queued"), lte(mails.nextAttemptAt, sql`(SELECT clock_timestamp())`));

export async function hasDueMail(): Promise<boolean> {
  const rows = await database().select({ mailId: mails.mailId }).from(mails).where(isDue()).limit(1);
  return rows.length > 0;
}

const domainOf = sql<string>`lower(split_part(${mails.recipient}, '@', 2))`;

/**
 * The longest due mail to a recipient and domain that are not full; mails that failed come after the others. If the worker dies,
 * another one sends the mail after `leaseMs`, so a mail may be sent twice, with the same Message-ID.
 */
export async function leaseDueMail(leaseMs: number, { owners, hosts }: Full): Promise<MailRow | null> {
  const due = database()
    .select({ mailId: mails.mailId })
    .from(mails)
    .where(and(isDue(), notInArray(mails.recipient, [...owners]), notInArray(domainOf, [...hosts])))
    .orderBy(sql`${mails.attempts} > 0`, asc(mails.nextAttemptAt))
    .limit(1)
    .for("update", { skipLocked: true });
  const [mail] = await database()
    .update(mails)
    .set({ nextAttemptAt: after(leaseMs), attempts: sql`${mails.attempts} + 1` })
    .where(eq(mails.mailId, due))
    .returning();
  return mail ?? null;
}

/** Ends a mail that is still queued, and deletes its text, because nobody needs it any more. */
export async function endMail(mailId: string, status: "sent" | "failed"): Promise<void> {
  await database()
    .update(mails)
    .set({ status, plain: "", html: "", nextAttemptAt: null, endedAt: now })
    .where(and(eq(mails.mailId, mailId), eq(mails.status, "queued")));
}

export async function postponeMail(mailId: string, milliseconds: number): Promise<void> {
  await database()
    .update(mails)
    .set({ nextAttemptAt: after(milliseconds) })
    .where(and(eq(mails.mailId, mailId), eq(mails.status, "queued")));
}

/** The mails of a sandbox without SMTP, newest first; `recipient` is in lower case. */
export const newestKept = (rows: number, recipient?: string): Promise<MailRow[]> =>
  database()
    .select()
    .from(mails)
    .where(and(eq(mails.status, "kept"), recipient === undefined ? undefined : eq(sql`lower(${mails.recipient})`, recipient)))
    .orderBy(desc(mails.createdAt), desc(mails.mailId))
    .limit(rows);

export async function deleteOldMails(days: number, rows: number): Promise<number> {
  const gone = await database().execute(sql`
    DELETE FROM mails WHERE mail_id IN (
      SELECT mail_id FROM mails
      WHERE created_at < (SELECT clock_timestamp() - ${days} * interval '1 day') AND status <> 'queued' LIMIT ${rows})
    RETURNING mail_id`);
  return gone.length;
}
