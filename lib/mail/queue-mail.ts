import type { Tx } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { newId } from "#lib/ids.ts";
import { compose, type Message } from "#lib/mail/compose.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { insertMail, type NewMail } from "#lib/mail/store.ts";

export type Mail = Message & {
  /** One email address. */
  readonly to: string;
  /**
   * When the mail becomes useless, for example because its link or the request in it expires. The mail is not sent after that.
   */
  readonly usefulUntil?: Date;
};

/**
 * Addresses in this reserved domain never receive mail. better-auth makes such addresses for people who sign in with a wallet.
 */
const NO_MAILBOX = /\.invalid$/i;

/**
 * Makes the outbox row of a mail. Null if the mail cannot be delivered, because no SMTP server is configured in production or
 * the address is in the reserved domain.
 */
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
 * Stores a mail in the outbox, in the transaction that causes the mail, so that both commit or neither does. A worker sends it
 * later, except in a sandbox without SMTP, where it is only shown. If the mail cannot be delivered (mailRow), nothing is
 * stored.
 */
export async function queueMail(tx: Tx, mail: Mail): Promise<void> {
  const row = mailRow(mail);
  if (row) await insertMail(tx, row);
}
