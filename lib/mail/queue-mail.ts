import type { Tx } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { newId } from "#lib/ids.ts";
import { compose, type Message } from "#lib/mail/compose.ts";
import { mailDelivery } from "#lib/mail/delivery.ts";
import { insertMail, type NewMail } from "#lib/mail/store.ts";

export type Mail = Message & {
  readonly to: string;
  /** The mail is not sent after this time, for example because its link has expired. */
  readonly usefulUntil?: Date;
};

/** A reserved domain; better-auth makes addresses in it for people who sign in with a wallet. */
const NO_MAILBOX = /\.invalid$/i;

/** Null if production has no SMTP server, or if the address has no mailbox. */
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

/** The mail is stored in `tx`, so that both commit or neither does; a worker sends a queued mail later. */
export async function queueMail(tx: Tx, mail: Mail): Promise<void> {
  const row = mailRow(mail);
  if (row) await insertMail(tx, row);
}
