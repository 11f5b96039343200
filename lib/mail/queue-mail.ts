import type { Tx } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { newId } from "#lib/ids.ts";
import { compose, type Message } from "#lib/mail/compose.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { insertMail, type NewMail } from "#lib/mail/store.ts";

export type Mail = Message & {
  /** One e-mail address. */
  readonly to: string;
  /** When its link expires; the mail is not sent after that. */
  readonly usefulUntil?: Date;
};

/** A reserved domain that never receives mail; better-auth creates such addresses for wallets. */
const NO_MAILBOX = /\.invalid$/i;

/** The outbox row of a mail. Null if it cannot be delivered: production without SMTP, or a person without an address. */
export function mailRow({ to, usefulUntil, ...message }: Mail): NewMail | null {
  const delivery = mailDelivery();
  if (delivery === "none" || NO_MAILBOX.test(to)) return null;
  return {
    mailId: newId("mail"),
    recipient: to,
    ...compose(message, env().BASE_URL),
    status: delivery === "smtp" ? "queued" : "kept",
    usefulUntil: usefulUntil ?? null,
  };
}

/**
 * Writes a mail into the outbox in the transaction that causes it: both commit, or neither. A worker sends it later. If it cannot be
 * delivered, nothing is written.
 *
 *     await queueMail(tx, { to: user.email, subject: "…", paragraphs: ["…"], action: { label: "Open it", path: "/payments" }, note: "…" });
 */
export async function queueMail(tx: Tx, mail: Mail): Promise<void> {
  const row = mailRow(mail);
  if (row) await insertMail(tx, row);
}
